"""The stat index: what a tree on disk was compiled from, and the status of each of its files then.

In: a directory, and a digest of all inputs of a compile. Out: whether the directory still is exactly what those inputs
compile to, from the status of its files alone. Only `compile` asks, because a rollout compares bytes; `files.py` and
`swapping.py` report files that they wrote or compared byte by byte.

As in git, a file is unchanged while size, times, inode and mode are. Three things could deceive that. A file may change
within one clock tick of its file system. So it skips files younger than some ticks, and file systems with whole
seconds. Times of a network file system come late from another machine, so only local file systems have an index. The
index is in the user's cache directory, so that no checkout can forge it. An index in doubt is none: then everything is
compiled and compared.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from fleetc.disk import swapping
from fleetc.disk.manifest import TICK_NS, FilesError
from fleetc.disk.staging import TreePlace, locked

LOCAL = frozenset(
    {"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "tmpfs", "xfs", "zfs"}
)
"""File systems with times of this machine."""

_LIMIT_BYTES = 256 * 1024 * 1024
_FORMAT = 1
_SECOND = 1_000_000_000

Status = tuple[int, int, int, int, int]
"""Size, time of the last change of content and of status in nanoseconds, inode, mode."""


class Note(NamedTuple):
    """The index entry of a tree besides its files: its place, the digest of inputs, the messages."""

    file: Path
    inputs: str
    messages: Mapping[str, str]


def digest_of(*parts: Sequence[str | bytes]) -> str:
    """The digest of inputs, which ends differently wherever one of them begins or ends elsewhere."""
    digest = hashlib.sha256(str(_FORMAT).encode())
    for part in parts:
        digest.update(b"%d;" % len(part))
        for piece in part:
            content = piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
            digest.update(b"%d:" % len(content))
            digest.update(content)
    return digest.hexdigest()


def program_digest(package: Path) -> str:
    """The digest of the status of each file of a package: another program may compile the same spec to other files."""
    lines = []
    for directory, folders, names in os.walk(package):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for name in sorted(names):
            status = os.stat(os.path.join(directory, name))  # noqa: PTH116, PTH118  # hundreds of files, at every start
            lines.append(f"{directory}/{name} {status.st_size} {status.st_mtime_ns} {status.st_ino}")
    return digest_of(lines)


def index_file(target: Path, outside: Sequence[Path]) -> Path | None:
    """Where the index of a directory lies; None if that would be within one of `outside`, or there is no home."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path.home() / ".cache"
        except RuntimeError:
            return None
    directory = base / "fleetc" / "trees"
    real = Path(os.path.realpath(directory))
    for place in (target, *outside):
        for inner, outer in ((directory, place.absolute()), (real, Path(os.path.realpath(place)))):
            if inner.is_relative_to(outer):
                return None
    name = hashlib.sha256(os.fsencode(os.path.realpath(target))).hexdigest()
    return directory / f"{name}.json"


def unchanged(
    target: Path, file: Path, inputs: str, wait_seconds: float = 10.0
) -> tuple[int, Mapping[str, str]] | None:
    """The number of files and the messages, if the directory is exactly the compile of these inputs."""
    index = _read(file)
    if index is None or index["inputs"] != inputs or not target.is_dir():
        return None
    try:
        with locked(target, shared=True, wait_seconds=wait_seconds) as place:
            if swapping.is_half_applied(place):
                return None
            statuses = _statuses(place)
    except (OSError, FilesError):
        return None
    if statuses is None or statuses != {path: tuple(status) for path, status in index["files"].items()}:
        return None
    return len(statuses), index["told"]


def remember(place: TreePlace, note: Note, verified: Mapping[str, tuple[int, int, int]]) -> None:
    """Write the index of a tree that was just written or compared, under its lock. None is left where one is in doubt.

    `verified` are the files with known bytes, as in `TreeComparison`.
    """
    time.sleep(TICK_NS / _SECOND)
    try:
        statuses = _statuses(place) if _is_local(place) else None
        if statuses is None or not _is_settled(statuses, verified):
            note.file.unlink(missing_ok=True)
            return
        index = {"inputs": note.inputs, "told": dict(note.messages), "files": statuses}
        body = json.dumps(index, separators=(",", ":")).encode()
        note.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = note.file.with_name(f".{note.file.name}.{os.getpid()}")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        new.replace(note.file)
    except OSError:  # no cache, or a full one: the next compile works without
        with suppress(OSError):
            note.file.unlink(missing_ok=True)


def _is_settled(statuses: Mapping[str, Status], verified: Mapping[str, tuple[int, int, int]]) -> bool:
    """Whether each file has the known bytes, and any change would change its time."""
    before = time.time_ns() - TICK_NS
    if statuses.keys() != verified.keys() or all(ctime % _SECOND == 0 for _, _, ctime, _, _ in statuses.values()):
        return False
    return all(
        max(mtime, ctime) < before and verified[path] == (size, mtime, inode)
        for path, (size, mtime, ctime, inode, _) in statuses.items()
    )


def _statuses(place: TreePlace) -> dict[str, Status] | None:
    """The status of each file in the directory by its path; None if there are other entries than files and
    directories."""
    root = place.open()
    if root is None:
        return None
    try:
        statuses: dict[str, Status] = {}
        return statuses if all(_walk(root, "", os.fstat(root).st_dev, statuses)) else None
    finally:
        os.close(root)


def _walk(directory: int, prefix: str, device: int, statuses: dict[str, Status]) -> Iterator[bool]:
    """Add the files below a directory; False for other entries, or on another file system."""
    inner = []
    with os.scandir(directory) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and status.st_dev == device:
                statuses[prefix + entry.name] = (
                    status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode
                )  # fmt: skip
            elif stat.S_ISDIR(status.st_mode) and status.st_dev == device:
                inner.append(entry.name)
            else:
                yield False
    for name in inner:
        opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
        try:
            yield from _walk(opened, f"{prefix}{name}/", device, statuses)
        finally:
            os.close(opened)


def _read(file: Path) -> dict[str, Any] | None:
    """An index that is whole and our own; None for anything else."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as opened:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
                return None
            digest, _, body = opened.read(_LIMIT_BYTES).partition(b"\n")
        if digest != hashlib.sha256(body).hexdigest().encode():
            return None
        index: dict[str, Any] = json.loads(body)
        return index
    except (OSError, ValueError, RecursionError):
        return None


def _is_local(place: TreePlace) -> bool:
    """Whether the directory's file system has this machine's times."""
    path = os.path.realpath(f"/proc/self/fd/{place.parent}")
    best, kind = "", ""
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines():
        before, _, after = line.partition(" - ")
        point = before.split()[4].encode().decode("unicode_escape")
        if len(point) >= len(best) and (path == point or path.startswith(point.rstrip("/") + "/")):
            best, kind = point, after.split()[0]
    return kind in LOCAL
