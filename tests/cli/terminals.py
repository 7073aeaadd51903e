"""fleetc on a pseudo-terminal of its own, with somebody at the keys."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tests import forked
from tests.support import ROOT, killed_on_error


class Seen(NamedTuple):
    """How a command ended, and what its terminal got."""

    code: int
    text: str


def on_terminal(
    *arguments: object,
    keys: Sequence[bytes],
    waits: Callable[[bytes, bytes], bool],
    rows: int = 24,
    cwd: Path = ROOT,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Seen:
    """Run fleetc; each of the `keys` is pressed once the terminal is silent and somebody is waited for, as told by all
    that it has shown, and by what is new since the last key.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    own = ("PAGER", "FLEETC_PAGER", "LESS", "NO_COLOR", "CI", "COLUMNS", "LINES")
    variables = {name: value for name, value in os.environ.items() if name not in own}
    command = [str(forked.program()), *map(str, arguments)]
    got, seen, left, deadline = b"", 0, list(keys), time.monotonic() + 40
    with killed_on_error(
        subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**variables, "TERM": "xterm", **environment},
            cwd=cwd,
            start_new_session=True,
        )
    ) as process:
        os.close(theirs)
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 0.2)[0]:
                if left and waits(got, got[seen:]):
                    seen = len(got)
                    os.write(ours, left.pop(0))
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the last process has left the terminal
                break
            got += piece
        assert time.monotonic() < deadline, f"it still waits: {got.decode()}"
        code = process.wait(timeout=10)
    os.close(ours)
    assert not left, f"nobody waits for {left}: {got!r}"
    return Seen(code, got.decode().replace("\r\n", "\n"))
