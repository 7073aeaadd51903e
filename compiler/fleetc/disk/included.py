"""Reads the files that a spec includes, from a directory or from git.

In: the spec, and where it is. Out: a `Source` for each file, sorted by path. A forbidden file, such as a link, becomes
a source with its problem, so the message points to the line that includes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from fleetc.disk.manifest import LIMIT_BYTES, FilesError
from fleetc.disk.reading import decode_source, read_source
from fleetc.toml.document import Source
from fleetc.toml.including import INCLUDE, PARTS_LIMIT, matches, matching, patterns_of
from fleetc.toml.reader import read


def included_by(base: Source) -> list[str]:
    """The include patterns of a spec; none if it cannot be read, which a later stage reports."""
    if INCLUDE not in base.text:
        return []
    raw, problems = read(base.name, base.text)
    return [] if problems else patterns_of(raw.get(INCLUDE))


def read_parts(base: Source, path: Path, limit_bytes: int = LIMIT_BYTES) -> list[Source]:
    """The files that the spec at a path includes. Raises `FilesError`."""
    parts = {part for pattern in included_by(base) for part in _found(path.parent, pattern.split("/"))}
    return [_part(path, part, limit_bytes) for part in _few(sorted(parts), base)]


def parts_then(base: Source, files: Mapping[str, bytes], prefix: str) -> list[Source]:
    """The files that a spec included, out of all that was below its directory, by path. Raises `FilesError`.

    `prefix` is what stands before the path in the name of a source.
    """
    parts = _few(list(matching(included_by(base), files)), base)
    return [replace(decode_source(files[part], f"{prefix}{part}"), part=part) for part in parts]


def _few(parts: list[str], base: Source) -> list[str]:
    if len(parts) > PARTS_LIMIT:
        message = f"{base.name} includes more than {PARTS_LIMIT} files"
        raise FilesError("include-too-many", message, path=base.name, advice="include fewer files")
    return parts


def _found(directory: Path, segments: list[str], above: str = "") -> Iterator[str]:
    """The paths below a directory that the segments of a pattern name; a link ends the search, and is named itself."""
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if matches(segments[0], entry.name):
            here = f"{above}{entry.name}"
            if len(segments) == 1 or entry.is_symlink():
                yield here
            elif entry.is_dir():
                yield from _found(Path(entry.path), segments[1:], f"{here}/")


def _part(base: Path, part: str, limit_bytes: int) -> Source:
    path = base.parent / part
    if path.is_symlink():
        return Source(str(path), "", part, "is a link")
    if part == base.name:
        return Source(f"{path} once more", "", part, "is the spec itself")
    if not path.is_file():
        return Source(str(path), "", part, "is not a regular file")
    return replace(read_source(path, str(path), limit_bytes), part=part)
