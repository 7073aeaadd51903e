"""Reads logs: plain, gzip or zstd, from files and from standard input.

In: a path, or "-". Out: pieces of bytes of bounded size, and what was wrong with the file behind the last one. Nothing
is held in memory but one piece.
"""

from __future__ import annotations

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fleetc.disk.manifest import FilesError, failure, shown
from fleetc.disk.reading import answer_name

_PIECE = 1 << 20
_NAMES = "name a file with a log, - for standard input, or HOST/NODE for the log of a node of the spec"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class LogPieces:
    """The bytes of one log, piece by piece. `flaw` is, after reading, why they ended too early."""

    def __init__(self, path: Path) -> None:
        self.name, self.flaw = answer_name(path), ""
        self._path = path

    def __iter__(self) -> Iterator[bytes]:
        """The pieces. Raises FilesError if the log cannot be opened, or is of a form that cannot be read here."""
        with _opened(self._path, self.name) as file:
            try:
                head = file.read(len(_ZSTD))
                yield from _pieces(_plain(_Whole(head, file), head, self.name))
            except OSError as problem:
                damaged = isinstance(problem, gzip.BadGzipFile)
                self.flaw = _damaged(problem) if damaged else f"reading it failed: {os.strerror(problem.errno or 0)}"
            except (EOFError, ValueError, zlib.error) as problem:
                self.flaw = _damaged(problem)


def _damaged(problem: Exception) -> str:
    return f"the compressed data is damaged or cut off: {problem}"


def is_log(argument: str) -> bool:
    """Whether an argument names a file that is there, or standard input."""
    try:
        return argument == "-" or Path(argument).exists()
    except (OSError, ValueError):
        return True  # it cannot be anything else, and reading it reports the error


def _opened(path: Path, name: str) -> Any:
    if str(path) == "-":
        return open(sys.stdin.fileno(), "rb", buffering=_PIECE, closefd=False)  # a descriptor
    try:
        file = path.open("rb", buffering=_PIECE)
    except IsADirectoryError as error:
        raise FilesError(
            "log-not-a-file", f"{shown(name)} is a directory", path=name, advice="name the files in it"
        ) from error
    except FileNotFoundError as error:
        message = f"cannot read {shown(name)}: there is no such file"
        raise FilesError("log-not-a-file", message, path=name, advice=_NAMES) from error
    except OSError as error:
        raise failure(error, name, "read") from error
    except ValueError as error:
        raise FilesError(
            "log-not-a-file", f"{shown(name)} is no path", path=name, advice="name a file with a log"
        ) from error
    if stat.S_ISBLK(os.fstat(file.fileno()).st_mode):
        file.close()
        raise FilesError("log-not-a-file", f"{shown(name)} is a disk", path=name, advice="name a file with a log")
    return file


def _plain(file: Any, head: bytes, name: str) -> Any:
    """The file, decompressed by its first bytes."""
    if head.startswith(_GZIP):
        return gzip.GzipFile(fileobj=file)
    if head == _ZSTD:
        return _zstd(file, name)
    return file


def _zstd(file: Any, name: str) -> _Zstd:
    """Zstandard is in the standard library from Python 3.14 on; before, a package has the same module."""
    try:
        from compression.zstd import ZstdError, ZstdFile
    except ImportError:
        try:
            from backports.zstd import ZstdError, ZstdFile
        except ImportError:
            advice = 'install fleetc with it, pip install "fleetc[zstd]", or run zstd -dc FILE | fleetc diagnose -'
            message = f"{shown(name)} is compressed by zstd, which this Python cannot read"
            raise FilesError("log-compression-unknown", message, path=name, advice=advice) from None
    return _Zstd(ZstdFile(file), ZstdError)


class _Whole:
    """A file with already read first bytes, because a pipe cannot go back."""

    def __init__(self, head: bytes, file: Any) -> None:
        self._head, self._file = head, file

    def read(self, size: int = -1) -> bytes:
        """The next bytes, as a file gives them."""
        return self.read1(size)

    def read1(self, size: int = -1) -> bytes:
        """The next bytes, at most so many, without waiting for all of them."""
        if self._head:
            size = len(self._head) if size < 0 else size
            part, self._head = self._head[:size], self._head[size:]
            return part
        chunk: bytes = self._file.read1(size)
        return chunk


class _Zstd:
    """A zstd file with general errors for damaged data."""

    def __init__(self, file: Any, problem: type[Exception]) -> None:
        self._file, self._problem = file, problem

    def read1(self, size: int) -> bytes:
        """The next bytes, at most so many. Raises ValueError."""
        try:
            piece: bytes = self._file.read1(size)
        except self._problem as error:
            raise ValueError(str(error)) from error
        return piece


def _pieces(file: Any) -> Iterator[bytes]:
    """Pieces of about the same size. What could be read before an error comes before it."""
    held, size, problem = list[bytes](), 0, None
    while problem is None:
        try:
            part = file.read1(_PIECE)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            part, problem = b"", error
        held.append(part)
        size += len(part)
        if size >= _PIECE or not part:
            yield b"".join(held)
            held, size = [], 0
        if not part:
            break
    if problem is not None:
        raise problem
