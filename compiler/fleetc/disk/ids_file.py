"""The file with the ids of streams, beside the spec: read, and held while streams change.

In: the path of a spec. Out: text. What the text means is in `stream_api/ids.py`; `whole.py` writes it.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fleetc.disk.manifest import REGULAR, FilesError, failure, read_opened, shown

LIMIT_BYTES = 16 * 1024 * 1024


def ids_path(spec: Path) -> Path:
    """Where the ids of a spec's streams are: `fleet.streams.json` beside `fleet.toml`."""
    return spec.with_name(f"{spec.stem}.streams.json")


def read_ids_file(path: Path) -> str | None:
    """The text of the file; None if there is none. Raises `FilesError`: ids-unreadable."""
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
def locked_streams(spec: Path) -> Iterator[None]:
    """Hold the streams of a spec while they change, without waiting. Raises `FilesError`: streams-busy.

    The lock is on the directory of the spec: editors replace the spec itself.
    """
    place = spec.absolute().parent
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise failure(error, str(place), "open") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"another fleetc changes streams of a spec in {shown(str(place))}"
            advice = "wait for its end, then run this again"
            raise FilesError("streams-busy", message, path=str(spec), advice=advice) from error
        yield
    finally:
        os.close(descriptor)


def _why(error: OSError) -> str:
    return os.strerror(error.errno or 0)


def _unreadable(path: Path, why: str) -> FilesError:
    advice = "restore it from version control"
    return FilesError("ids-unreadable", f"{shown(str(path))} cannot be read: {why}", path=str(path), advice=advice)
