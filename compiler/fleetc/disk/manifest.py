"""The recorded tree: what a directory written by fleetc holds, and how it differs from a tree in memory.

In: descriptors of directories, a manifest's bytes, a tree. Out: `FilesError`, manifest entries, a
`TreeComparison`. This is the reading half of the disk door: nothing here changes a file, follows a link or waits
for one. Called by the other modules that meet the disk; `FilesError` is the error of all of them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from fleetc.emit.tree import FILE_MODE, MANIFEST, Artifact

TICK_NS = 25_000_000
"""Longer than the clock of a local file system stands still: the kernel advances it at least every 10 ms."""

LIMIT_BYTES = 64 * 1024 * 1024
"""The largest file that is read, in bytes."""

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
"""Open flags for a directory that must not be a link."""

REGULAR = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
"""Open flags for a file that must not be a link; a FIFO does not block and is found out by fstat."""

_CONFLICT = re.compile(rb"^(?:<<<<<<<|>>>>>>>) ", re.MULTILINE)
_CAUSES = {
    errno.ENOSPC: ("disk-full", "free some space on that file system and run it again"),
    errno.EDQUOT: ("disk-full", "free some of your quota on that file system and run it again"),
    errno.EROFS: ("read-only", "name a directory on a writable file system"),
    errno.EACCES: ("permission-denied", "check its owner and mode, or name another place"),
    errno.EPERM: ("permission-denied", "check its owner and mode, or name another place"),
    errno.EIO: (
        "device-failed",
        "the device reports a failure: check the kernel log before you try again",
    ),
}
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"{kind}{digit}" for kind in ("com", "lpt") for digit in range(10))]
)


class FilesError(Exception):
    """A problem with a file or directory, for the user.

    `code` is a stable slug, `message` one sentence, `help` what to do, `path` the place as the user wrote it.
    `exit_code` is 1 for errors in the user's files and 3 for failures of the machine or the tool.
    """

    def __init__(self, code: str, message: str, *, path: str, advice: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path
        self.help = advice
        self.exit_code = exit_code


def failure(error: OSError, path: str, doing: str) -> FilesError:
    """An operation that the system refused, as a message: `doing` is a verb such as "write"."""
    code, advice = _CAUSES.get(
        error.errno or 0, ("system-refused", "find out why the system refuses this, then run it again")
    )
    reason = os.strerror(error.errno) if error.errno else str(error)
    return FilesError(code, f"cannot {doing} {shown(path)}: {reason}", path=path, advice=advice, exit_code=3)


def shown(path: str) -> str:
    """A path that is safe to print: control characters and undecodable bytes are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in path)


@lru_cache(maxsize=65536)
def _flaw(part: str) -> str:
    """What is wrong with one part of a path, or the empty string."""
    if part in ("", ".", ".."):
        return "has an empty, `.` or `..` part"
    if "\\" in part or any(ord(c) < 32 or ord(c) == 127 for c in part):
        return "contains a backslash or a control character"
    if part.casefold() == ".git":
        return "is in a .git directory"
    if part.split(".", 1)[0].casefold() in _RESERVED or part[-1] in ". ":
        return "is a name that some systems cannot store"
    try:
        return "has a part of more than 255 bytes" if len(part.encode()) > 255 else ""
    except UnicodeEncodeError:
        return "is not valid Unicode"


def check_relative(path: str) -> None:
    """Accept a path of an artifact, or raise `FilesError`.

    A path is relative, POSIX, normal, and can be stored on every common file system.
    """
    flaw = "is longer than 1024 characters" if len(path) > 1024 else ""
    for part in path.split("/"):
        flaw = flaw or _flaw(part)
    if flaw:
        advice = "give the host or node behind it a plain name of a-z, 0-9 and `-`"
        brief = path if len(path) <= 80 else path[:77] + "..."
        message = f"the output path {shown(brief)} {flaw}"
        raise FilesError("path-refused", message, path=path, advice=advice, exit_code=3)


def open_directory(root: int, path: str) -> int:
    """Descriptor of the directory `path` below `root` ("" is root itself), going through no link."""
    descriptor = os.dup(root)
    for part in path.split("/") if path else ():
        try:
            inner = os.open(part, DIRECTORY, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def read_regular(directory: int, name: str) -> bytes:
    """Content of a regular file. Raises OSError: ELOOP for a link, EINVAL for what is not a file, EFBIG."""
    descriptor = os.open(name, REGULAR, dir_fd=directory)
    try:
        return read_opened(descriptor, LIMIT_BYTES)
    finally:
        os.close(descriptor)


def read_opened(descriptor: int, limit_bytes: int) -> bytes:
    """All of an open file. Raises OSError: EINVAL for what is not a regular file, EFBIG over the limit."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    chunks, rest = [], limit_bytes - status.st_size
    while rest >= 0 and (chunk := os.read(descriptor, status.st_size + 1)):
        chunks.append(chunk)
        rest = limit_bytes - sum(map(len, chunks))
    if rest < 0:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return b"".join(chunks)


def read_path(path: Path, limit_bytes: int) -> bytes:
    """All of a regular file, never waiting for a FIFO or a device. Raises OSError, ValueError for a NUL in the path."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        return read_opened(descriptor, limit_bytes)
    finally:
        os.close(descriptor)


class ManifestEntry(NamedTuple):
    """A file in a manifest; an empty digest is unknown."""

    sha256: str
    mode: int
    origins: tuple[str, ...]


def read_manifest(root: int, where: str) -> tuple[bytes, dict[str, ManifestEntry]] | None:
    """A tree's manifest, as bytes and as entries by path; None if there is none.

    The file is untrusted input (a merge may have mangled it): anything odd raises `FilesError`.
    """
    try:
        content = read_regular(root, MANIFEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failure(error, f"{where}/{MANIFEST}", "read") from error
    return content, parse_manifest(content, where)


def parse_manifest(content: bytes, where: str) -> dict[str, ManifestEntry]:
    """The entries of a manifest by path.

    Raises `FilesError` manifest-unreadable for anything odd, and manifest-in-conflict where a merge left its marks.
    """
    if _CONFLICT.search(content) and _either_side(content):
        message = f"{shown(where)}/{MANIFEST} contains both sides of an unresolved merge"
        advice = "recompile: run fleetc compile and commit what it writes"
        raise FilesError("manifest-in-conflict", message, path=f"{where}/{MANIFEST}", advice=advice)
    try:
        return _entries(json.loads(content))
    except (ValueError, KeyError, TypeError, RecursionError, FilesError) as error:
        message = f"{shown(where)}/{MANIFEST} is not a fleetc manifest, so generated files cannot be told from others"
        advice = f"restore {MANIFEST}, or remove the directory {shown(where)} and compile again"
        raise FilesError("manifest-unreadable", message, path=f"{where}/{MANIFEST}", advice=advice) from error


def listed_entries(root: int, where: str) -> dict[str, ManifestEntry] | None:
    """What a directory's manifest lists, None without one. Of one in conflict, what either side lists."""
    try:
        manifest = read_manifest(root, where)
    except FilesError as problem:
        if problem.code != "manifest-in-conflict":
            raise
        return _either_side(read_regular(root, MANIFEST))
    return manifest[1] if manifest is not None else None


def _either_side(content: bytes) -> dict[str, ManifestEntry]:
    """The files that either side of a manifest in conflict lists, without digests: which one is right is not known."""
    entries: dict[str, ManifestEntry] = {}
    for line in content.decode(errors="replace").splitlines():
        with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError, FilesError):
            item = json.loads(line.strip().rstrip(",}") + "}")
            entries |= _entries({"files": [{**item, "sha256": ""}]})
    return entries


def _entries(document: object) -> dict[str, ManifestEntry]:
    """Entries of a decoded manifest; raises ValueError, KeyError, TypeError or FilesError."""
    if not isinstance(document, dict) or not isinstance(document["files"], list):
        raise ValueError("no list of files")
    entries = {}
    for item in document["files"]:
        path, sha256, origins = item["path"], item.get("sha256", ""), item.get("origins", [])
        if not (isinstance(path, str) and isinstance(sha256, str) and isinstance(origins, list)):
            raise TypeError("wrong type")
        check_relative(path)
        entries[path] = ManifestEntry(sha256, int(item["mode"], 8), tuple(str(origin) for origin in origins))
    return entries


def directories_of(paths: Iterable[str]) -> set[str]:
    """Every directory above the paths, without the root."""
    directories: set[str] = set()
    for path in paths:
        end = path.rfind("/")
        while end > 0 and path[:end] not in directories:
            directories.add(path[:end])
            end = path.rfind("/", 0, end)
    return directories


@dataclass(slots=True)
class TreeComparison:
    """A tree against a directory, by relative path.

    `same`, `changed` and `missing` divide the tree's paths. `superfluous` were written earlier and are no longer
    wanted. `edited` (a part of changed and superfluous) hold neither what was written nor what is wanted. `occupied`
    are wanted, but taken by foreign entries. `foreign` are other entries; a directory ends in a slash and includes all
    below.
    """

    same: set[str] = field(default_factory=set)
    changed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    superfluous: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    occupied: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    verified: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Size, content time and inode of the compared or written files of the tree."""


def compare(
    root: int,
    where: str,
    wanted: Mapping[str, Artifact],
    recorded: Mapping[str, ManifestEntry],
    *,
    mode_mask: int = 0o7777,
    reads: Callable[[str], bool] | None = None,
) -> TreeComparison:
    """Compare the directory `root` (shown as `where`) with a tree. Only mode bits in `mode_mask` count.

    Files that `reads` declines are not opened, and are equal if regular.
    """
    walk = _Walk(where, wanted, recorded, mode_mask, os.fstat(root).st_dev, reads)
    walk.visit(root, "")
    result = walk.result
    present = result.same.union(result.changed, result.occupied)
    result.missing = [path for path in wanted if path not in present]
    return result


class _Walk:
    """One walk of a directory. Descends only where wanted or recorded paths lie."""

    def __init__(
        self,
        where: str,
        wanted: Mapping[str, Artifact],
        recorded: Mapping[str, ManifestEntry],
        mode_mask: int,
        device: int,
        reads: Callable[[str], bool] | None,
    ) -> None:
        self.where = where
        self.wanted = wanted
        self.recorded = recorded
        self.mode_mask = mode_mask
        self.device = device
        self.reads = reads
        self.settled = time.time_ns() - TICK_NS
        self.wanted_directories = directories_of(wanted)
        self.known_directories = self.wanted_directories | directories_of(recorded)
        self.result = TreeComparison()

    def visit(self, directory: int, prefix: str) -> None:
        """Sort the entries of one directory into the result."""
        name = ""
        try:
            with os.scandir(directory) as listing:
                entries = sorted(
                    (e.name, e.is_dir(follow_symlinks=False), e.is_file(follow_symlinks=False)) for e in listing
                )
            for name, is_directory, is_file in entries:
                path = prefix + name
                if is_directory:
                    self._visit_inner(directory, name, path)
                elif is_file and (path in self.wanted or path in self.recorded):
                    self._visit_file(directory, name, path)
                elif path in self.wanted or path in self.wanted_directories:
                    self.result.occupied.append(path)
                else:
                    self.result.foreign.append(path)
        except OSError as error:
            raise failure(error, f"{self.where}/{prefix}{name}", "read") from error

    def _visit_inner(self, directory: int, name: str, path: str) -> None:
        """A directory: ours when it leads to a known path and lies on the same file system."""
        result = self.result
        inner = os.open(name, DIRECTORY, dir_fd=directory) if path in self.known_directories else None
        try:
            if inner is not None and os.fstat(inner).st_dev == self.device:
                foreign = len(result.foreign)
                self.visit(inner, path + "/")
                if path in self.wanted and len(result.foreign) > foreign:
                    result.occupied.append(path)
            elif path in self.wanted or path in self.wanted_directories:
                result.occupied.append(path)
            else:
                result.foreign.append(path + "/")
        finally:
            if inner is not None:
                os.close(inner)

    def _visit_file(self, directory: int, name: str, path: str) -> None:
        """A regular file at a path that we want or once wrote."""
        result, artifact, entry = self.result, self.wanted.get(path), self.recorded.get(path)
        if artifact is not None and self.reads is not None and not self.reads(path):
            result.same.add(path)
            return
        descriptor = os.open(name, REGULAR, dir_fd=directory)
        try:
            status = os.fstat(descriptor)
            if artifact is not None:
                size = len(artifact.content)
                if status.st_size == size and os.read(descriptor, size + 1) == artifact.content:
                    if (status.st_mode ^ artifact.mode) & self.mode_mask:
                        result.changed.append(path)
                    else:
                        result.same.add(path)
                        if status.st_mtime_ns < self.settled:
                            result.verified[path] = (size, status.st_mtime_ns, status.st_ino)
                    return
            if path == MANIFEST:
                result.changed.append(path)
                return
            if entry is None:
                result.occupied.append(path)
                return
            (result.superfluous if artifact is None else result.changed).append(path)
            if entry.sha256 and _digest(descriptor) != entry.sha256:
                result.edited.append(path)
        finally:
            os.close(descriptor)


def _digest(descriptor: int) -> str:
    """Hex SHA-256 of an open file, from its start, in bounded memory."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    digest = hashlib.sha256()
    while chunk := os.read(descriptor, 1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def manifest_artifact(content: bytes) -> Artifact:
    """The manifest as an artifact; it lists no mode for itself."""
    return Artifact(MANIFEST, content, FILE_MODE)
