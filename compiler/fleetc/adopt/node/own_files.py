"""Which source a process means by the path of a file: through the mounts of its container, else by its name.

In: sources, and a process with a path as it sees it. Out: `OwnFile`. What some container has mounted is the last
guess for another path.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process
from fleetc.adopt.node.host_paths import mount_of, normal, whereabouts
from fleetc.toml.document import Source


class OwnFile(NamedTuple):
    """A source that a process reads; `guess` says in words where the file really is, if only its name fits."""

    source: Source | None
    guess: str = ""


def own_file(library: Library, process: Process, path: str) -> OwnFile:
    """The source that a path means to a process."""
    beside = process.span.source
    if process.runtime != "docker" or not path.startswith("/"):
        return OwnFile(library.find(path, beside))
    inside = normal(path)
    mount = mount_of(process, inside)
    if mount is not None and mount.outside:
        outside = mount.outside + inside[len(mount.inside.rstrip("/")) :]
        name = _beside(process, outside)
        return OwnFile(library.named(name) or library.find(outside, beside))
    source = library.find(path, beside, library.mounted) or library.find(path, beside)
    return OwnFile(source, whereabouts(process, path) if source is not None and source.name in library.sources else "")


def note_mounted(library: Library, processes: Iterable[Process]) -> None:
    """Remember the sources that containers have mounted."""
    folders = {folder for process in processes for folder in _folders(process)}
    for name in library.sources:
        above = posixpath.normpath(name)
        while above and above not in folders:
            above = posixpath.dirname(above.rstrip("/")) if above != "/" else ""
        if above:
            library.mounted.add(name)


def _folders(process: Process) -> Iterator[str]:
    """The files and folders among the sources that a container has mounted, by the names that sources have."""
    for mount in process.mounts if process.runtime == "docker" else ():
        name = _beside(process, mount.outside)
        if name and not name.startswith("."):
            yield name


def _beside(process: Process, outside: str) -> str:
    """The name that a source has which lies at a path of the host; "" where nobody knows."""
    folder = posixpath.dirname(process.span.source)
    known = process.directory.rstrip("/")
    if known.startswith("/") and outside.startswith(f"{known}/"):
        outside = f".{outside[len(known) :]}"
    return posixpath.normpath(posixpath.join(folder, outside)) if outside.startswith((".", "..")) else ""
