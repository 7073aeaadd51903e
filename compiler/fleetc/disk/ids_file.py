"""The file with the ids of streams, beside the spec: read, held while streams change, and written whole or not at all.

In: the path of a spec, and text. Out: text. What the text means is in `stream_api/ids.py`.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fleetc.disk.manifest import REGULAR, FilesError, failure, read_opened, shown

LIMIT_BYTES = 16 * 1024 * 1024


def ids_path(spec: Path) -> Path:
    """Where the ids of a spec's streams are: `fleet.streams.json` beside `fleet.toml`."""
    return spec.with_name(f"{spec.stem}.streams.json")


def read_ids_file(path: Path) -> str | None:
    """The text of the file; None where there is none. Raises `FilesError`: ids-unreadable."""
    try:
        descriptor = os.open(path, REGULAR)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, "it is a link" if error.errno == errno.ELOOP else _why(error)) from error
    try:
        return read_opened(descriptor, LIMIT_BYTES).decode("utf-8")
    except OSError as error:
        raise _unreadable(path, "it is no regular file" if error.errno == errno.EINVAL else _why(error)) from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"it is not UTF-8, from byte {error.start} on") from error
    finally:
        os.close(descriptor)


@contextmanager
def locked_spec(spec: Path) -> Iterator[None]:
    """Hold the spec while streams change, without waiting. Raises `FilesError`: streams-busy."""
    try:
        descriptor = os.open(spec, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise failure(error, str(spec), "open") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        message = f"another fleetc changes the streams of {shown(str(spec))}"
        advice = "wait for its end, then run this again"
        raise FilesError("streams-busy", message, path=str(spec), advice=advice) from error
    finally:
        os.close(descriptor)


def write_ids_file(path: Path, text: str) -> None:
    """Write the file; a reader or a crash finds the old text or the new one. Raises `FilesError`."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        inside = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        try:
            if path.exists():
                os.fchmod(inside, stat.S_IMODE(path.stat().st_mode))
            rest = text.encode()
            while rest:
                rest = rest[os.write(inside, rest) :]
            os.fsync(inside)
        finally:
            os.close(inside)
        beside.replace(path)
        parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise failure(error, str(path), "write") from error


def _why(error: OSError) -> str:
    return os.strerror(error.errno or 0)


def _unreadable(path: Path, why: str) -> FilesError:
    advice = "restore it from version control"
    return FilesError("ids-unreadable", f"{shown(str(path))} cannot be read: {why}", path=str(path), advice=advice)
