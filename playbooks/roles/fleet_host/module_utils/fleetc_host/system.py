"""Programs, files that survive a power cut, the journal of the host, and its lock.

In: words, paths and contents. Out: what programs said, what files hold.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from typing import NamedTuple

from .places import BOOTED, CURRENT, JOURNAL, RELEASES, STATE, SWITCH, Json, RefusedError

GOES_ON = ("initializing", "starting", "running", "degraded", "maintenance")
"""What systemd says of a host that is not being shut down."""


class Done(NamedTuple):
    """What a program said."""

    status: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Its last line, for a message."""
        lines = [line for line in (self.err + "\n" + self.out).splitlines() if line.strip()]
        return lines[-1].strip()[:300] if lines else "exit code %d" % self.status


class Ids(NamedTuple):
    """Who a program runs as."""

    user: int
    group: int


def run(*argv: str, seconds: float = 120, environment: Json | None = None, ids: Ids | None = None) -> Done:
    """Run a program to its end, without a shell. One that is missing or too slow is a failure like any other.

    With `ids`, it runs as that user, in that group and no other.
    """
    try:
        done = subprocess.run(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=seconds,
            env=None if environment is None else {**os.environ, **environment},
            check=False,
            user=ids.user if ids else None,
            group=ids.group if ids else None,
            extra_groups=[] if ids else None,
            cwd="/" if ids else None,
        )
    except OSError as failure:
        return Done(127, "", "%s: %s" % (argv[0], failure.strerror))
    except subprocess.TimeoutExpired:
        return Done(124, "", "%s did not end within %d seconds" % (argv[0], seconds))
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def must(done: Done, what: str) -> Done:
    """Go on only where a program succeeded."""
    if done.status:
        raise RefusedError("step-failed", "%s: %s" % (what, done.words))
    return done


def read(path: str) -> bytes | None:
    """A file; None where there is none, or where it is one in /proc of a process that ends meanwhile."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ProcessLookupError):
        return None


def read_json(path: str) -> Json | None:
    """A file of this program's own; None where there is none. One that was damaged counts as none."""
    return parsed(read(path) or b"null")


def parsed(content: bytes) -> Json | None:
    """The object that a text is; None where it is none."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_state(path: str) -> Json | None:
    """The record or the switch; None where there is none. Refuses a damaged one: no way back is known then."""
    content = read(path)
    found = None if content is None else parsed(content)
    if found is None and content is not None:
        cure = 'write {"release": "NAME"} there, NAME being that directory below %s to which links in %s lead' % (
            RELEASES,
            CURRENT,
        )
        if path == SWITCH:
            cure = "see on the host whether its nodes run as they shall, then remove it"
        raise RefusedError("state-damaged", "%s is damaged: %s, and deploy again" % (path, cure))
    return found


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Say which file it was that an open one cannot be written to: the kernel does not."""
    try:
        yield
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, path) from None


def write(path: str, content: bytes, mode: int = 0o644) -> None:
    """Put a file in place whole, and on the disk."""
    directory = os.path.dirname(path)
    os.makedirs(directory, exist_ok=True)
    new = "%s/.new-%s" % (directory, os.path.basename(path))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with naming(path), os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    os.rename(new, path)
    sync_directory(directory)


def write_json(path: str, value: Json) -> None:
    """Put a file of this program's own in place, for root alone."""
    write(path, json.dumps(value, sort_keys=True).encode() + b"\n", 0o600)


def sync_directory(path: str) -> None:
    """Bring the names in a directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def link(target: str, path: str) -> bool:
    """Make a link lead to a target, in one step for whoever reads it; whether it led elsewhere."""
    if os.path.islink(path) and os.readlink(path) == target:
        return False
    directory = os.path.dirname(path)
    os.makedirs(directory, exist_ok=True)
    new = "%s/.new-%s" % (directory, os.path.basename(path))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    os.symlink(target, new)
    os.rename(new, path)
    sync_directory(directory)
    return True


def remove(path: str) -> None:
    """Remove a file, a link or a whole directory, if it is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
        return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def names_in(path: str) -> list[str]:
    """The names in a directory, sorted, without those that are being written."""
    try:
        return sorted(name for name in os.listdir(path) if not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []


def digest_of_file(path: str) -> str:
    """SHA-256 in hex of a file of any size; "" where there is none."""
    found = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            for part in iter(lambda: file.read(1024 * 1024), b""):
                found.update(part)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    return found.hexdigest()


def hexdigest(content: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


def note(what: str, **facts: object) -> None:
    """Add a line to the journal of the host. It holds no secret."""
    os.makedirs(STATE, mode=0o755, exist_ok=True)
    line = json.dumps({"at": round(time.time(), 3), "what": what, **facts}, sort_keys=True) + "\n"
    descriptor = os.open(JOURNAL, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    size = os.fstat(descriptor).st_size
    try:
        with naming(JOURNAL):
            if os.write(descriptor, line.encode()) < len(line):  # the disk is full: no half of a line stays
                os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(seconds: float) -> Iterator[None]:
    """Hold the lock of the host: one process changes it at a time. The kernel drops it when its holder dies."""
    os.makedirs(STATE, mode=0o755, exist_ok=True)
    descriptor = os.open(STATE + "/lock", os.O_RDWR | os.O_CREAT, 0o600)
    end = time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    who = ((read_json(SWITCH) or {}).get("owner") or {}).get("who") or "somebody else"
                    raise RefusedError("host-busy", "%s is changing this host; try again later" % who) from None
                time.sleep(0.2)
        yield
    finally:
        os.close(descriptor)


def is_shutting_down() -> bool:
    """Whether the host reboots or is being switched off: its nodes stop then, and none can be started.

    At the end of that systemd answers nothing any more, so only one that says that it goes on is believed.
    """
    said = run("systemctl", "is-system-running").out.strip()
    return said == "stopping" or (said not in GOES_ON and os.path.isdir(BOOTED))


def boot_id() -> str:
    """Which boot of the host this is."""
    return (read("/proc/sys/kernel/random/boot_id") or b"").decode().strip()
