"""The command `fleetc merge-file`: git runs it for a file of a tree that both sides of a merge changed.

In: three temporary files of git and the path of the file, through typer. Out: the resolved file in place of ours, exit
code 0; a line on stderr if only a compile can resolve it.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from fleetc.cli.shared.output import message


def merge_file(
    base: Annotated[Path, typer.Argument(help="The common ancestor of the file: git's %O.", show_default=False)],
    ours: Annotated[Path, typer.Argument(help="Our version of the file, and the result: %A.", show_default=False)],
    theirs: Annotated[Path, typer.Argument(help="Their version of the file: %B.", show_default=False)],
    path: Annotated[str, typer.Argument(help="Its path in the repository: %P.", show_default=False)],
) -> None:
    """Resolve a file of a compiled tree in a merge, for git.

    git runs this as the merge driver `fleetc`. Compile afterwards.
    """
    from fleetc.disk import git, merging
    from fleetc.disk.manifest import failure
    from fleetc.emit.tree import MANIFEST

    try:
        if PurePosixPath(path).name == MANIFEST:
            done = merging.settle_manifest(*(file.read_bytes() for file in (base, ours, theirs)))
        else:
            text = git.merge_texts(base, ours, theirs)
            done = merging.Settled(merging.PLACEHOLDER, True) if text is None else merging.Settled(text, False)
        ours.write_bytes(done.content)
    except OSError as problem:
        raise failure(problem, path, "merge") from problem
    if done.open:
        message(f"fleetc: {path} must be recompiled; after the merge, run fleetc compile and commit")
