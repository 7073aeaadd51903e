"""Replaces a single file atomically: readers see the old content or the new, even after a crash.

In: a path and bytes. Out: a file, of mode 0644 if it is new. For plans, ids of streams, and reports that others may be
reading.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

from fleetc.disk.manifest import FilesError, failure, shown


def need_regular(path: Path, code: str, advice: str) -> None:
    """Refuse to replace a directory, a link or a device: root could replace /dev/null. Raises FilesError."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except OSError as problem:
        raise failure(problem, str(path), "write") from problem
    except ValueError as problem:  # a NUL in the path
        raise failure(OSError(errno.EINVAL, str(problem)), str(path), "write") from problem
    if not stat.S_ISREG(mode):
        message = f"{shown(str(path))} exists and is not a regular file"
        raise FilesError(code, message, path=str(path), advice=advice)


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the place, then rename; makes the directory, and keeps the mode of a file. Raises FilesError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, mode)
                file.write(content)
                file.flush()
                os.fsync(descriptor)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink()
            raise
        sync_directory(path.parent)
    except OSError as problem:
        raise failure(problem, str(path), "write") from problem


def sync_directory(directory: Path) -> None:
    """Have a rename in a directory survive a loss of power."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
