"""Finds what a spec is compared with: a directory that fleetc wrote, another spec, or a revision of git.

In: the argument of `--against`, the spec and its overlays. Out: a `Side`. A door like `files.py`, which it reads trees
and specs with; revisions come through `git.py`. Called by `commands/`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from compiler import files, git, render
from compiler.diagnostics import has_errors
from compiler.pipeline import compile_spec
from compiler.reading import decode_source
from compiler.recorded import FilesError, shown
from compiler.review.side import Side, of_compiled, of_recorded
from compiler.source import Source
from compiler.tree import MANIFEST


def baseline(
    against: str | None,
    spec: Path,
    overlays: Sequence[Path],
    recorded: Path,
    shipped: tuple[Mapping[str, str], Mapping[str, bytes]],
    limit_bytes: int,
) -> Side:
    """What to compare with. A path that exists is a path, all else a revision; without a word it is `recorded`.

    A revision is compiled with the overlays as they were then; another spec is taken as it is. Raises `FilesError`
    baseline-unknown, baseline-unsound when a spec does not compile, and those of reading trees and specs, and of git.
    """
    if against is None:
        return of_recorded(str(recorded), files.read_tree(recorded))
    path = Path(against)
    kind = _kind(path) if against else ""  # pathlib takes an empty name for the current directory
    if kind == "tree":
        return of_recorded(against, files.read_tree(path))
    if kind == "spec":
        source = files.read_source(files.find_spec(path), str(files.find_spec(path)), limit_bytes)
        return _compiled(against, [source], shipped)
    base = files.find_spec(spec)
    commit = git.commit_of(against, base) if kind == "" and git.looks_like_revision(against) else None
    if commit is None:
        message = f"{shown(against) or 'an empty name'} is no tree, no spec and no revision of git"
        advice = "name a directory that fleetc wrote, a .toml file or its directory, or a branch, tag or commit"
        raise FilesError("baseline-unknown", message, path=against, advice=advice)
    sources = []
    for place in (base, *overlays):
        # As git spells it from here. The slash keeps the revision out of the file's own name, which trees hold.
        name = f"{against}:{place}" if place.is_absolute() else f"{against}:./{place}"
        sources.append(decode_source(git.read_at(commit, place, against, limit_bytes), name))
    return _compiled(against, sources, shipped)


def _kind(path: Path) -> str:
    """What a path that exists is: tree or spec, or "other"; "" where there is nothing."""
    try:
        if path.is_dir():
            tree, spec = (path / MANIFEST).exists(), files.find_spec(path).exists()
            return "tree" if tree else "spec" if spec else "other"
        return "spec" if path.exists() else ""
    except (OSError, ValueError):
        return ""


def _compiled(name: str, sources: Sequence[Source], shipped: tuple[Mapping[str, str], Mapping[str, bytes]]) -> Side:
    compiled = compile_spec(sources, *shipped)
    if compiled.tree is None:
        checked = compiled.checked
        first = render.locate([d for d in checked.diagnostics if has_errors([d])], sources, checked.document)[0]
        at = f"{shown(first.primary.file)}:{first.primary.line}" if first.primary.line else shown(name)
        message = f"the spec to compare with does not compile: {at}: {first.diagnostic.message}"
        advice = "compare with a state that compiled, or with a recorded tree"
        raise FilesError("baseline-unsound", message, path=name, advice=advice)
    return of_compiled(name, compiled)
