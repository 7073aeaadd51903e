"""Private directories for one run: only for this user, in memory for values of secrets, and cleaned up.

In: what the directory is for. Out: its path, until the run ends; and the removal of what dead runs left. A directory is
locked while its process lives: the kernel drops the lock at any death. Process ids are useless here: they are reused
and differ between containers.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = "fleetc-private-"
_MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs")
_MEMORY = Path("/dev/shm")  # noqa: S108  # world-writable with the sticky bit; new entries are for their owner alone
_MOUNTS = Path("/proc/self/mountinfo")
_PROCESSES = Path("/proc")
_TERM_SECONDS = 5.0

RUN_VARIABLE = "ANSIBLE_HOME"
"""The variable that marks every process of a run: it names a place in the run's directory."""


def memory_place() -> Path | None:
    """Where directories in memory are made: XDG_RUNTIME_DIR, else /dev/shm; None if no directory is fit.

    Memory means a file system that the kernel keeps in memory (and in swap, where the machine has any).
    """
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    if given.startswith("/") and _is_own(Path(given)) and _in_memory(Path(given)):
        return Path(given)
    with suppress(OSError):
        sticky = _MEMORY.lstat().st_mode & stat.S_ISVTX
        if sticky and _in_memory(_MEMORY) and os.access(_MEMORY, os.W_OK | os.X_OK):
            return _MEMORY
    return None


@contextmanager
def private_directory(place: Path | None = None) -> Iterator[Path]:
    """A new directory in `place`, or among the temporary files; it is removed at the end of the block."""
    path, lock = _make(place)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that is private from its creation."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def sweep() -> None:
    """Remove the directories of runs that died, after ending what still runs in them: Ansible, and connections.

    It looks where this process would make such directories itself, and only at directories of this user.
    """
    places = {place for place in (memory_place(), _MEMORY, Path(tempfile.gettempdir())) if place is not None}
    for place in sorted(places):
        for path in sorted(place.glob(f"{_NAME}*")):
            with suppress(OSError):
                _sweep(path)


def _sweep(path: Path) -> None:
    if not _is_own(path):
        return
    lock = _open(path)
    try:
        if _locked(lock):
            _end_processes(path)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)


def _make(place: Path | None) -> tuple[Path, int]:
    """A new directory and its lock. A sweep of another process may take it before it is locked: then another one."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_NAME, dir=place))
        try:
            lock = _open(path)
        except FileNotFoundError:
            continue
        # A file system without locks (NFS) has none to give to a sweep either, which then leaves the directory alone.
        with suppress(OSError):
            if not _locked(lock):
                os.close(lock)
                continue
        if path.exists():
            return path, lock
        os.close(lock)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _locked(descriptor: int) -> bool:
    """Lock an open directory; whether no other process holds it. Raises OSError if locks are impossible."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_own(path: Path) -> bool:
    """Whether it is a private directory of this user, and no link."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _in_memory(path: Path) -> bool:
    """Whether a directory's file system is in memory, by Linux."""
    try:
        device = path.stat().st_dev
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts.splitlines():
        facts, _, kind = line.partition(" - ")
        if facts.split()[2] == wanted:
            return kind.split()[0] in _MEMORY_FILE_SYSTEMS
    return False


def _end_processes(directory: Path) -> None:
    """End this user's processes of a run: those with its directory in their environment."""
    left = []
    for process in _PROCESSES.glob("[0-9]*"):
        with suppress(OSError):
            handle = os.pidfd_open(int(process.name))
            try:
                if process.stat().st_uid == os.geteuid() and _names(process, directory):
                    signal.pidfd_send_signal(handle, signal.SIGTERM)
                    left.append(handle)
            finally:
                if handle not in left:  # of another user, or ended meanwhile
                    os.close(handle)
    for handle in left:
        if not _ended(handle):
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            _ended(handle)
        os.close(handle)


def _ended(handle: int) -> bool:
    """Whether a process ends soon. By poll, because select accepts no descriptor above 1023."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(_TERM_SECONDS * 1000))


def _names(process: Path, directory: Path) -> bool:
    home = b"%s=%s/" % (RUN_VARIABLE.encode(), os.fsencode(directory))
    return any(entry.startswith(home) for entry in (process / "environ").read_bytes().split(b"\0"))
