"""Writes files that do not exist yet: all of them or none, and never over anything.

In: texts by path. Out: files. Called through `files.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from fleetc.disk.manifest import FilesError, failure, shown


def write_new(texts: Mapping[Path, str]) -> Sequence[Path]:
    """Write each text to its path, making directories on the way. Returns the paths that did not have it already.

    Raises `FilesError`: file-exists when something is at one of the paths, and what the system refuses. Files that were
    written before the failure are removed again.
    """
    new = [path for path, text in texts.items() if not _has(path, text)]
    for path in new:
        if os.path.lexists(path):
            raise _exists(path)
    written: list[Path] = []
    try:
        for path in new:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
            written.append(path)
            with os.fdopen(descriptor, "wb") as file:
                file.write(texts[path].encode())
    except (OSError, ValueError) as error:
        for path in written:
            with suppress(OSError):
                path.unlink()
        if isinstance(error, FileExistsError):
            raise _exists(path) from error
        problem = error if isinstance(error, OSError) else OSError(str(error))  # a NUL in a path is a ValueError
        raise failure(problem, str(path), "write") from error
    return new


def _has(path: Path, text: str) -> bool:
    """Whether a regular file has exactly this text."""
    try:
        return path.is_file() and not path.is_symlink() and path.read_bytes() == text.encode()
    except (OSError, ValueError):
        return False


def _exists(path: Path) -> FilesError:
    advice = "move it away, or name another directory; beside an existing spec, --ci writes only workflows"
    return FilesError(
        "file-exists", f"{shown(str(path))} already exists and was not changed", path=str(path), advice=advice
    )


def repository_top(directory: Path) -> Path:
    """The nearest directory from this one upwards that holds a `.git`; without one, the directory itself."""
    start = Path(os.path.abspath(directory))  # noqa: PTH100  # resolve() would follow links
    for candidate in (start, *start.parents):
        if (candidate / ".git").exists():
            return candidate
    return start
