"""A locked place, and a new tree beside the old one that reuses its unchanged files.

In: a target path; descriptors of a fresh and of the old directory, a tree and its comparison with the old
one. Out: a `TreePlace`; a complete, synced tree, manifest last. Called by `files.py` and by `swapping.py`, which
then lets the two change places.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fleetc.disk.manifest import DIRECTORY, FilesError, TreeComparison, directories_of, failure, open_directory, shown
from fleetc.emit.tree import MANIFEST, Artifact, Tree

_NO_LINK = {
    errno.EPERM,
    errno.EACCES,
    errno.EXDEV,
    errno.EMLINK,
    errno.ENOSYS,
    errno.EOPNOTSUPP,
    errno.ELOOP,
}
"""Refusals that mean "not this entry, not here", not "the disk is in trouble"."""

_OPEN_MODE = 0o755
"""Mode of a directory; 0700 if it holds a private file."""

_DEEPEST = 40
"""Levels of foreign directories to carry over."""


@dataclass(frozen=True, slots=True)
class TreePlace:
    """A target directory by its parent's descriptor and its name; `shown` is how the user wrote it."""

    parent: int
    name: str
    shown: str

    @property
    def staged(self) -> str:
        """Name of the sibling for the new tree."""
        return f".fleetc-{self.name}.stage"

    @property
    def applying(self) -> str:
        """Name of the sibling for moves file by file."""
        return f".fleetc-{self.name}.apply"

    def beside(self, name: str) -> str:
        """How to show a sibling of the target."""
        return str(Path(self.shown).parent / name)

    def open(self) -> int | None:
        """Descriptor of the target, or None. Refuses links and what is not a directory."""
        try:
            return os.open(self.name, DIRECTORY, dir_fd=self.parent)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                message = f"{shown(self.shown)} is a link or a file, not a directory"
                advice = "name the directory itself, or another one"
                raise FilesError("target-not-directory", message, path=self.shown, advice=advice) from error
            raise failure(error, self.shown, "open") from error


@contextmanager
def locked(target: Path, *, shared: bool, wait_seconds: float) -> Iterator[TreePlace]:
    """Hold the target's parent directory: one writer, who makes it where it is missing, or any number of readers.
    The lock leaves no file behind.

    Raises `FilesError` output-locked when another process still holds it after `wait_seconds`.
    """
    where = str(target)
    try:
        full = target.resolve() if target.name in ("", "..") else target.parent.resolve() / target.name
        if not shared:
            full.parent.mkdir(parents=True, exist_ok=True)
        parent = os.open(full.parent, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError, FileExistsError) as error:
        message = f"{shown(str(target.parent))}, the parent of {shown(target.name)}, is not a directory"
        advice = "name a place below a directory"
        raise FilesError("no-such-directory", message, path=where, advice=advice) from error
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, or a NUL in the name
        reason = error if isinstance(error, OSError) else OSError(errno.EINVAL, str(error))
        raise failure(reason, where, "open") from error
    try:
        _lock(parent, where, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, wait_seconds)
        yield TreePlace(parent, full.name or ".", where)  # the root has no name
    except OSError as error:  # whatever was not foreseen nearer to its cause
        raise failure(error, where, "work on") from error
    finally:
        os.close(parent)


def _lock(parent: int, where: str, kind: int, wait_seconds: float) -> None:
    """Take the lock, waiting a bounded time. A killed holder frees it."""
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(parent, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                message = f"{_holder(parent)} is working in the directory that contains {shown(where)}"
                advice = "wait until it is done and run this again"
                raise FilesError("output-locked", message, path=where, advice=advice, exit_code=3) from error
            time.sleep(0.02)
        except OSError as error:
            raise failure(error, where, "lock the directory that contains") from error


def _holder(parent: int) -> str:
    """The holder of the lock by /proc/locks (proc_locks(5))."""
    inode = f":{os.fstat(parent).st_ino}"
    with suppress(OSError):
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            words = line.split()
            if len(words) > 5 and words[1] == "FLOCK" and words[5].endswith(inode) and int(words[4]) > 0:
                return f"process {words[4]}"
    return "another process"


def stage(where: str, staged: int, old: int | None, tree: Tree, comparison: TreeComparison) -> bool:
    """Make the new tree; unchanged files are linked and so keep inode and times.

    False if a foreign entry could not be carried over: then the old directory must stay.
    """
    groups: dict[str, list[Artifact]] = {}
    private = set()
    last = None
    for artifact in tree.artifacts:
        if artifact.path == MANIFEST:
            last = artifact
            continue
        directory = artifact.path.rpartition("/")[0]
        groups.setdefault(directory, []).append(artifact)
        if not artifact.mode & 0o077:
            private.add(directory)
    for directory in sorted(directories_of(a.path for a in tree.artifacts)):
        _make_directory(where, staged, directory, 0o700 if directory in private else _OPEN_MODE)
    for directory, artifacts in groups.items():
        _fill(where, staged, old, directory, artifacts, comparison)
    carried = old is None or _carry_all(where, staged, old, comparison.foreign)
    if last is not None:
        _fill(where, staged, old, "", [last], comparison)
    try:
        mode = _OPEN_MODE if old is None else stat.S_IMODE(os.fstat(old).st_mode)
        os.fchmod(staged, mode | 0o700)
        sync(staged)
    except OSError as error:
        raise failure(error, where, "write") from error
    return carried


def _make_directory(where: str, root: int, path: str, mode: int) -> None:
    """A directory of exactly this mode, despite the umask. Its parent is there and ours."""
    try:
        os.mkdir(path, 0o700, dir_fd=root)
        os.chmod(path, mode, dir_fd=root)
    except OSError as error:
        raise failure(error, f"{where}/{path}", "write") from error


def _fill(
    where: str, staged: int, old: int | None, directory: str, artifacts: list[Artifact], comparison: TreeComparison
) -> None:
    """Link or write the files of one directory."""
    path = directory
    before = None
    try:
        inside = os.open(directory or ".", DIRECTORY, dir_fd=staged)
        try:
            if old is not None and any(a.path in comparison.same for a in artifacts):
                before = open_directory(old, directory)
            for artifact in artifacts:
                path = artifact.path
                name = path[len(directory) + 1 :] if directory else path
                if before is None or path not in comparison.same or not _link(before, inside, name):
                    comparison.verified[path] = _write(inside, name, artifact)
        finally:
            os.close(inside)
            if before is not None:
                os.close(before)
    except OSError as error:
        raise failure(error, f"{where}/{path}", "write") from error


def _link(source: int, target: int, name: str) -> bool:
    """Hard-link an entry; False where the file system or its rules do not allow that."""
    try:
        os.link(name, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    except OSError as error:
        if error.errno in _NO_LINK:
            return False
        raise
    return True


def _write(directory: int, name: str, artifact: Artifact) -> tuple[int, int, int]:
    """A new file: private until its mode is set, and only then filled. Its size, the time of its content, its inode."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(name, flags, 0o600, dir_fd=directory)
    try:
        os.fchmod(descriptor, artifact.mode)
        rest = artifact.content
        while rest:
            count = os.write(descriptor, rest)
            if count == len(rest):
                break
            rest = rest[count:]
        status = os.fstat(descriptor)
        return status.st_size, status.st_mtime_ns, status.st_ino
    finally:
        os.close(descriptor)


def _carry_all(where: str, staged: int, old: int, foreign: list[str]) -> bool:
    """Put other people's entries into the new tree too; False when one of them cannot be there twice."""
    path = ""
    try:
        parents: set[str] = set()
        for path in foreign:
            directory, _, name = path.rstrip("/").rpartition("/")
            for parent in sorted(directories_of([path.rstrip("/")]) - parents):
                parents.add(parent)
                with suppress(FileExistsError):
                    os.mkdir(parent, 0o700, dir_fd=staged)
                    os.chmod(parent, _OPEN_MODE, dir_fd=staged)
            source, target = open_directory(old, directory), open_directory(staged, directory)
            try:
                _carry(source, target, name, 0)
            finally:
                os.close(source)
                os.close(target)
    except OSError as error:
        if error.errno in _NO_LINK:
            return False
        raise failure(error, f"{where}/{path}", "carry over") from error
    return True


def _carry(source: int, target: int, name: str, depth: int) -> None:
    """Link one entry, or make a directory like it and carry what it holds. Opens no file."""
    status = os.stat(name, dir_fd=source, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        os.link(name, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        return
    if depth > _DEEPEST:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if status.st_dev != os.fstat(source).st_dev:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    os.mkdir(name, 0o700, dir_fd=target)
    os.chmod(name, 0o700, dir_fd=target)
    inside, outside = os.open(name, DIRECTORY, dir_fd=source), os.open(name, DIRECTORY, dir_fd=target)
    try:
        for entry in os.listdir(inside):  # noqa: PTH208  # `inside` is a descriptor, which pathlib cannot list
            _carry(inside, outside, entry, depth + 1)
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(outside, status.st_uid, status.st_gid)
        os.fchmod(outside, stat.S_IMODE(status.st_mode))
        os.utime(outside, ns=(status.st_atime_ns, status.st_mtime_ns))
    finally:
        os.close(inside)
        os.close(outside)


def sync(descriptor: int) -> None:
    """Bring a file system to disk with one call; an fsync for each of thousands of files takes minutes."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "syncfs"):
        os.sync()
    elif library.syncfs(descriptor) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
