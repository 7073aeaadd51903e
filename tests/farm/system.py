"""What the farm asks of this machine's kernel: commands that must work, mounts, processes, control groups.

In: commands, paths, process ids, and a host's id (unique on this machine). Out: changes on the machine, or
FarmError. Called by the other farm modules only.

Each host has one control group in each hierarchy. As every process of a host, containers included, is in its
group and nothing else is, the group also tells which processes are the farm's to list and to kill.
"""

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

CGROUP_ROOT = Path("/sys/fs/cgroup")


class FarmError(RuntimeError):
    """A host of the farm, or what it is made of, could not be set up; the text says what and why."""


def run_checked(*argv: str) -> None:
    """Run a command; when it fails, its last lines of output become the FarmError."""
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        if done.returncode:
            log.seek(0)
            tail = "".join(log.readlines()[-15:])
            raise FarmError(f"{shlex.join(argv)}: ended with status {done.returncode}\n{tail}")


def wait_for(condition: Callable[[], bool], seconds: float, message: Callable[[], str]) -> None:
    """Ask every tenth of a second; FarmError with the message when the seconds are over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise FarmError(message())
        time.sleep(0.1)


def unmount(path: Path) -> None:
    """Unmount, or detach where something still holds it: removing the folder must not go through it."""
    if subprocess.run(["umount", str(path)], capture_output=True, check=False).returncode:
        run_checked("umount", "--lazy", str(path))


def namespace_pids(pid: int) -> list[int]:
    """The ids of a process, from this machine's inwards: [outer], [outer, host], [outer, host, container].

    Empty when it has ended.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    for line in status.splitlines():
        if line.startswith("NSpid:"):
            return [int(number) for number in line.split()[1:]]
    return []


def end_processes(pids: Iterable[int]) -> None:
    """Send TERM, and after three seconds KILL to those still there."""
    waiting = list(pids)
    _signal(waiting, signal.SIGTERM)
    deadline = time.monotonic() + 3
    while waiting and time.monotonic() < deadline:
        time.sleep(0.05)
        waiting = [pid for pid in waiting if namespace_pids(pid)]
    _signal(waiting, signal.SIGKILL)


def cgroup_hierarchies() -> list[Path]:
    """The version 1 hierarchies and, on a hybrid layout, `unified`; empty on any other layout."""
    if not (CGROUP_ROOT / "systemd" / "cgroup.procs").exists():
        return []
    folders = (path for path in CGROUP_ROOT.iterdir() if not path.is_symlink())
    return sorted(path for path in folders if (path / "cgroup.procs").exists())


def cgroups_of(host: str) -> list[Path]:
    """The host's group in each hierarchy."""
    return [hierarchy / host for hierarchy in cgroup_hierarchies()]


def create_cgroups(host: str) -> None:
    """Make the groups. A new cpuset group has no processors and takes no process until it is given some."""
    for group in cgroups_of(host):
        group.mkdir()
        for name in ("cpuset.cpus", "cpuset.mems"):
            if (group / name).exists():
                (group / name).write_text((group.parent / name).read_text())


def members(host: str) -> list[int]:
    """All processes in the host's group and below it, its boot loop included, by this machine's ids."""
    found: set[int] = set()
    for folder, _, _ in os.walk(CGROUP_ROOT / "systemd" / host):
        try:
            found.update(int(pid) for pid in Path(folder, "cgroup.procs").read_text().split())
        except OSError:
            continue  # the group has gone since it was listed
    return sorted(found - {0})


def kill_members(host: str) -> None:
    """Kill all that is left in the host's group, until it is empty (at most ten seconds)."""
    deadline = time.monotonic() + 10
    while (left := members(host)) and time.monotonic() < deadline:
        _signal(left, signal.SIGKILL)
        time.sleep(0.05)


def remove_cgroups(host: str) -> None:
    """Remove the host's groups, the deepest first."""
    for group in cgroups_of(host):
        for folder, _, _ in os.walk(group, topdown=False):
            _remove_cgroup(Path(folder))


def _remove_cgroup(group: Path) -> None:
    """A group stays busy for a moment after its last process has ended: try for five seconds."""
    for _ in range(100):
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise FarmError(f"{group} stays busy and could not be removed")


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
