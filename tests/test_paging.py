"""Long answers on a terminal: a real pseudo-terminal, the real less, and programs that stand in for a pager."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from tests.support import INVENTORIES, ROOT, fleetc_process, killed_on_error

pytestmark = pytest.mark.usefixtures("processes")

LONG = ("explain", "--all")
START, END = "# Reference of the spec language", "Instead:"
PROMPT = b":\x1b[K"
"""What less shows at the bottom of the screen while it waits for a key."""

needs_less = pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")


class Seen(NamedTuple):
    """How a command ended, and what its terminal got."""

    code: int
    text: str


def on_terminal(
    *arguments: object,
    keys: Sequence[bytes] = (),
    rows: int = 24,
    cwd: Path = ROOT,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Seen:
    """Run fleetc on a pseudo-terminal of its own; each of the `keys` is pressed once less has asked for
    one and the terminal is silent.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    own = ("PAGER", "FLEETC_PAGER", "LESS", "NO_COLOR", "COLUMNS", "LINES")
    variables = {name: value for name, value in os.environ.items() if name not in own}
    command = [sys.executable, "-c", _ON_TERMINAL, *map(str, arguments)]
    got, left, deadline = b"", list(keys), time.monotonic() + 60
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
            if not select.select([ours], [], [], 1)[0]:
                if left and PROMPT in got:
                    os.write(ours, left.pop(0))
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the last process has left the terminal
                break
            got += piece
        code = process.wait(timeout=10)
    os.close(ours)
    assert not left, "less never asked for a key"
    return Seen(code, got.decode().replace("\r\n", "\n"))


_ON_TERMINAL = """import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # the terminal is that of this session, so Ctrl-C arrives
os.execv(sys.executable, [sys.executable, "-I", "-m", "fleetc", *sys.argv[1:]])
"""


@needs_less
def test_long_answer_waits_for_its_reader_and_leaving_early_is_no_error() -> None:
    seen = on_terminal(*LONG, keys=[b"q"])
    assert seen.code == 0
    assert START in seen.text and END not in seen.text
    assert "internal error" not in seen.text


@needs_less
def test_interrupt_is_for_the_pager() -> None:
    seen = on_terminal(*LONG, keys=[b"\x03", b"q"])
    assert seen.code == 0 and "interrupted" not in seen.text


@needs_less
def test_exit_code_stays_that_of_the_command() -> None:
    arguments = ("diff", INVENTORIES / "demo", "--against", INVENTORIES / "two-regions", "--exit-code")
    seen = on_terminal(*arguments, keys=[b"q"])
    assert seen.code == 1
    assert "\x1b[1m" in seen.text and "ESC" not in seen.text, "less shows the colours of the review"


def test_answer_that_fits_is_printed() -> None:
    seen = on_terminal("explain", "spec", rows=100, environment={"FLEETC_PAGER": "false"})
    assert seen.code == 0 and "Version of the spec language" in seen.text


def test_lines_that_wrap_count_as_several() -> None:
    lines = fleetc_process("explain", "--example").stdout.splitlines()
    screen = len(lines) + sum((len(line) - 1) // 80 for line in lines if line) + 1
    assert screen > len(lines) + 2
    for rows, paged in ((len(lines) + 2, True), (screen - 1, True), (screen, False)):
        seen = on_terminal("explain", "--example", rows=rows, environment={"FLEETC_PAGER": "echo paged"})
        assert (seen.text == "paged\n") is paged


@pytest.mark.parametrize(
    "environment", [{"FLEETC_PAGER": ""}, {"PAGER": ""}, {"FLEETC_PAGER": "", "PAGER": "false"}, {"TERM": "dumb"}]
)
def test_no_pager_by_the_environment(environment: dict[str, str]) -> None:
    seen = on_terminal(*LONG, environment=environment)
    assert seen.code == 0 and START in seen.text and END in seen.text


def test_no_pager_by_the_option() -> None:
    seen = on_terminal("--no-pager", *LONG, environment={"PAGER": "false", "FLEETC_PAGER": "false"})
    assert seen.code == 0 and START in seen.text and END in seen.text


def test_variable_of_fleetc_is_the_stronger_one_and_has_words() -> None:
    assert on_terminal(*LONG, environment={"PAGER": "false", "FLEETC_PAGER": "head -n 1"}).text == f"{START}\n"
    assert on_terminal(*LONG, environment={"PAGER": "head -n 1"}).text == f"{START}\n"


@pytest.mark.parametrize(
    ("pager", "reason"), [("no-such-pager -x", "No such file or directory"), ("less 'x", "no closing quotation")]
)
def test_pager_that_cannot_start_is_named_and_the_answer_printed(pager: str, reason: str) -> None:
    seen = on_terminal(*LONG, environment={"PAGER": pager})
    assert seen.code == 0 and END in seen.text
    assert re.search(f"note: the pager .* cannot be started: {reason}", seen.text)


def test_pipe_gets_no_pager() -> None:
    done = fleetc_process(*LONG, FLEETC_PAGER="false", TERM="xterm")
    assert done.returncode == 0 and END in done.stdout


def test_checkout_does_not_choose_the_pager(tmp_path: Path) -> None:
    """Neither a setting, nor git's configuration, nor a program that lies there."""
    trap = tmp_path / "less"
    trap.write_text("#!/bin/sh\ntouch trapped\n")
    trap.chmod(0o755)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[core]\n\tpager = ./less\n")
    shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", tmp_path)
    shown = on_terminal("show", cwd=tmp_path, keys=[b"q"] if shutil.which("less") else [])
    assert shown.code == 0 and "[avatars" not in shown.text
    (tmp_path / "fleetc.toml").write_text('pager = "./less"\n')
    refused = on_terminal("show", cwd=tmp_path)
    assert refused.code == 2 and "fleetc.toml sets pager, which is not a setting of fleetc" in refused.text
    assert not (tmp_path / "trapped").exists()
