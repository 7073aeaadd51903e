"""Long answers on a terminal: a real pseudo-terminal, the real less, and programs that stand in for a pager."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli import terminals
from tests.cli.terminals import Seen
from tests.support import INVENTORIES, fleetc_process

pytestmark = pytest.mark.usefixtures("processes")

LONG = ("explain", "--all")
START, END = "# Reference of the spec language", "Instead:"
PROMPT = b":\x1b[K"
"""What less shows at the bottom of the screen while it waits for a key."""

needs_less = pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")


def on_terminal(*arguments: object, keys: Sequence[bytes] = (), **more: Any) -> Seen:
    """Run fleetc on a terminal; each of the `keys` is pressed once less has asked for one."""
    return terminals.on_terminal(*arguments, keys=keys, waits=lambda got, _: PROMPT in got, **more)


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
    shown = on_terminal("check", "--resolved", cwd=tmp_path, keys=[b"q"] if shutil.which("less") else [])
    assert shown.code == 0 and "[avatars" not in shown.text
    (tmp_path / "fleetc.toml").write_text('pager = "./less"\n')
    refused = on_terminal("check", "--resolved", cwd=tmp_path)
    assert refused.code == 2 and "fleetc.toml sets pager, which is not a setting of" in refused.text
    assert not (tmp_path / "trapped").exists()
