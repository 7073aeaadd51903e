"""Writes repaired specs back: each file as a whole or not at all, with the line ends, mode and owner that it had.

In: sources as they were read and as they are to be. Out: files. Called through `files.py`. It refuses a link, a file
that is not regular, and one changed since it was read, and then writes no file.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from fleetc.disk.manifest import REGULAR, FilesError, failure, read_opened, shown
from fleetc.disk.whole import sync_directory
from fleetc.toml.document import Source


class _Staged(NamedTuple):
    """A new file beside the one it is to replace."""

    path: Path
    beside: Path
    name: str


def write_sources(before: Sequence[Source], after: Sequence[Source], limit_bytes: int) -> tuple[str, ...]:
    """Write the sources that differ over the files they are named for; return those names.

    Raises `FilesError`: spec-is-a-link, spec-not-a-file, spec-changed, spec-named-twice, and what the system
    refuses. All files are prepared before the first one is replaced.
    """
    staged: list[_Staged] = []
    name = ""
    try:
        for old, new in zip(before, after, strict=True):
            if old != new:
                name = old.name
                if Path(name).absolute() in [item.path.absolute() for item in staged]:
                    advice = "name it once; nothing was written"
                    raise FilesError("spec-named-twice", f"{shown(name)} is named twice", path=name, advice=advice)
                staged.append(_stage(old, new, limit_bytes))
        for item in staged:
            name = item.name
            item.beside.replace(item.path)
            sync_directory(item.path.parent)
    except OSError as error:
        raise _explained(error, name) from error
    finally:
        for item in staged:
            with suppress(OSError):
                item.beside.unlink(missing_ok=True)
    return tuple(item.name for item in staged)


def _stage(old: Source, new: Source, limit_bytes: int) -> _Staged:
    path = Path(old.name)
    descriptor = os.open(path, REGULAR)
    try:
        status, data = os.fstat(descriptor), read_opened(descriptor, limit_bytes)
    finally:
        os.close(descriptor)
    text = data.decode("utf-8", "replace")
    if text.replace("\r\n", "\n") != old.text:
        advice = "run the command again; nothing was written"
        raise FilesError("spec-changed", f"{shown(old.name)} was changed in the meantime", path=old.name, advice=advice)
    content = with_line_ends(text, new.text).encode()
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    inside = os.open(beside, flags, 0o600)
    try:
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(inside, status.st_uid, status.st_gid)
        os.fchmod(inside, stat.S_IMODE(status.st_mode))
        while content:
            content = content[os.write(inside, content) :]
        os.fsync(inside)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    finally:
        os.close(inside)
    return _Staged(path, beside, old.name)


def with_line_ends(before: str, after: str) -> str:
    """The text `after`, with the line ends of `before` instead of LF.

    A new line ends as the line above it does, or as the first line of `before`.
    """
    if "\r\n" not in before:
        return after
    if before.count("\n") == before.count("\r\n"):
        return after.replace("\n", "\r\n")
    pieces = before.split("\n")  # those before a CRLF end in CR, as no spec has a CR elsewhere
    old = [piece.removesuffix("\r") for piece in pieces]
    new = after.split("\n")
    ends = ["\r\n" if piece.endswith("\r") else "\n" for piece in pieces]
    ends[-1] = ends[0]  # the last piece has no line end
    chosen: list[str] = []
    end = ends[0]
    for kind, start, _, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for place in range(first, last):
            end = ends[start + place - first] if kind == "equal" else end
            chosen.append(end)
    chosen[-1] = ""
    return "".join(line + end for line, end in zip(new, chosen, strict=True))


def _explained(error: OSError, name: str) -> FilesError:
    advice = "name the file itself, or change it by hand"
    if error.errno == errno.ELOOP:
        return FilesError("spec-is-a-link", f"{shown(name)} is a link", path=name, advice=advice)
    if error.errno in (errno.EINVAL, errno.ENXIO):
        return FilesError("spec-not-a-file", f"{shown(name)} is not a regular file", path=name, advice=advice)
    return failure(error, name, "write")
