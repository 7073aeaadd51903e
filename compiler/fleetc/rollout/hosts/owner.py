"""Who rolls out: what hosts write down of a rollout, and whether one that they name is dead.

In: the owner that a host names. Out: whether its process has ended, which only the machine that it ran on can tell. A
rollout on another machine is never taken for dead: its hosts go back by themselves if it does not confirm.
"""

from __future__ import annotations

import getpass
import os
import secrets
import socket
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@cache
def this_run() -> dict[str, str]:
    """This process as an owner: an id, words for people, and what tells whether it still lives. All of it is text."""
    who = f"{getpass.getuser()} on {socket.gethostname()}"
    pid = os.getpid()
    return {"id": secrets.token_hex(8), "who": who, "boot": _boot(), "pid": str(pid), "started": _started(pid)}


def is_dead(owner: object) -> bool:
    """Whether an owner that a host names is a process of this boot of this machine that has ended."""
    if not isinstance(owner, dict) or not _boot() or owner.get("boot") != _boot():
        return False
    pid = owner.get("pid")
    if not isinstance(pid, str) or not pid.isdecimal() or len(pid) > 9:
        return False
    return _started(int(pid)) != owner.get("started")


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When a process was started, in ticks of the kernel since the boot; "" if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
