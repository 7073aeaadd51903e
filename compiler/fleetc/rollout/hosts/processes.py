"""How processes of a run end: with fleetc when it dies, gently when a person interrupts it.

In: a command, a signal. Out: nothing is left going.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

_LINUX_LAUNCHER = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""
"""Starts a program that gets SIGTERM when fleetc dies; else Ansible may wait for ever for a terminal that is gone."""
_TERM_SECONDS = 20.0


def bound_to_fleetc(command: Sequence[str]) -> list[str]:
    """A command that dies with fleetc, if the system supports that."""
    if sys.platform != "linux":
        return [*command]
    return [sys.executable, "-I", "-c", _LINUX_LAUNCHER, str(os.getpid()), *command]


def end_gently(module: Any) -> None:
    """Make a cancelled run end with SIGTERM first: the runner's own SIGKILL leaves Ansible's workers running."""

    def handle_termination(cls: Any, pid: int, is_cancel: bool = True) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
            end = time.monotonic() + _TERM_SECONDS
            while time.monotonic() < end:
                # WNOWAIT: the runner's own library collects the exit status.
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    return
                time.sleep(0.1)
            os.killpg(os.getpgid(pid), signal.SIGKILL)

    module.Runner.handle_termination = classmethod(handle_termination)


def on_interrupt(interrupted: threading.Event, tell: Callable[[], None]) -> list[tuple[signal.Signals, Any]]:
    """Set an event when a person or the system ends fleetc, and tell so at once; returns the handlers before."""

    def handle(*_: object) -> None:
        interrupted.set()
        threading.Thread(target=tell).start()  # the signal may have come in the middle of another line

    if threading.current_thread() is not threading.main_thread():
        return []
    return [(sig, signal.signal(sig, handle)) for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]


def restore(previous: Sequence[tuple[signal.Signals, Any]]) -> None:
    for sig, handler in previous:
        signal.signal(sig, handler)
