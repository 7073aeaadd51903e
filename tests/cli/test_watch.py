"""compile --watch: each save shows problems, or what changes; silent at its end, plain where there is no terminal."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import INVENTORIES, killed_on_error

pytestmark = pytest.mark.usefixtures("processes")
HANGS = 60
COMMAND = [sys.executable, "-I", "-m", "fleetc", "compile", "--watch"]


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", tmp_path)
    return tmp_path


@contextmanager
def _watching(fleet: Path, *words: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    said = fleet / "said.txt"
    with said.open("wb") as out:
        process = subprocess.Popen([*COMMAND, *words], cwd=fleet, stdout=out, stderr=out)
        with killed_on_error(process):
            yield process, said


def _await(said: Path, words: str, times: int = 1) -> str:
    """What was said once it has the words so often. A test that waits in vain fails with what was said instead."""
    begun = time.monotonic()
    while (text := said.read_text(encoding="utf-8")).count(words) < times:
        assert time.monotonic() - begun < HANGS, text
        time.sleep(0.05)
    return text


def _save(fleet: Path, old: str, new: str) -> None:
    """Save as editors do: the new text beside the old one, then in its place."""
    text = (fleet / "fleet.toml").read_text(encoding="utf-8")
    assert old in text
    beside = fleet / ".fleet.toml.swp"
    beside.write_text(text.replace(old, new), encoding="utf-8")
    beside.replace(fleet / "fleet.toml")


def test_each_save_is_checked_reviewed_and_compiled(fleet: Path) -> None:
    with _watching(fleet) as (process, said):
        _await(said, "files written")
        assert (fleet / "rendered" / "FLEET.md").is_file()
        flags = fleet / "rendered" / "hosts" / "eu-edge-1" / "eu-live" / "launch.flags"
        _save(fleet, '"1500 wei / pixel"', '"1000 wei / pixel"')
        _await(said, "1 error")
        assert "-maxPricePerUnit=1500" in flags.read_text(encoding="utf-8")
        _save(fleet, '"1000 wei / pixel"', '"1600 wei / pixel"')
        text = _await(said, "files written", 2)
        assert "eu-live pays at most 1600 wei / pixel instead of 1500 wei / pixel" in text
        assert "restart: eu-live restarts" in text
        assert "-maxPricePerUnit=1600" in flags.read_text(encoding="utf-8")
        process.send_signal(signal.SIGINT)
        assert process.wait(HANGS) == 0
    text = said.read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert "Traceback" not in text and "interrupted" not in text


def test_included_files_overlays_and_rules_count_too(fleet: Path) -> None:
    text = (fleet / "fleet.toml").read_text(encoding="utf-8")
    head, mark, rest = text.partition("[rollout]")
    (fleet / "fleet.toml").write_text(head.replace("spec = 1\n", 'spec = 1\ninclude = ["parts/*.toml"]\n'))
    (fleet / "parts").mkdir()
    (fleet / "parts" / "last.toml").write_text(mark + rest)
    (fleet / "over.toml").write_text('[fleet]\nname = "over"\n')
    with _watching(fleet, "--overlay", "over.toml") as (process, said):
        _await(said, "files written")
        (fleet / "parts" / "last.toml").write_text((mark + rest).replace('batch = "25%"', 'batch = "50%"'))
        _await(said, "batch", 1)
        _await(said, "files written", 2)
        (fleet / "over.toml").write_text('[fleet]\nname = "other"\n')
        _await(said, "files written", 3)
        (fleet / "policy").mkdir()
        (fleet / "policy" / "no.star").write_text(
            '"""Nothing passes.\n\nWhy: a test.\n\nInstead: stop.\n"""\n\n'
            'def check(fleet):\n    return [finding("fleet.name", "no", "stop")]\n'
        )
        _await(said, "error[policy/no]")
        (fleet / "parts" / "more.toml").write_text("[hosts.x\n")
        _await(said, "toml-syntax")
        process.send_signal(signal.SIGINT)
        assert process.wait(HANGS) == 0


def test_a_tree_that_somebody_edits_is_left_alone(fleet: Path) -> None:
    with _watching(fleet) as (process, said):
        _await(said, "files written")
        page = fleet / "rendered" / "hosts" / "eu-edge-1" / "eu-live" / "launch.flags"
        page.write_text("mine\n", encoding="utf-8")
        _save(fleet, '"1500 wei / pixel"', '"1600 wei / pixel"')
        _await(said, "error[artifact-edited]")
        assert page.read_text(encoding="utf-8") == "mine\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(HANGS) == 0


def test_on_a_terminal_each_answer_stands_alone_and_stays(fleet: Path) -> None:
    """Sound, wrong, unreadable and missing specs, a broken overlay and a broken rule."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "--overlay", "night.toml"], cwd=fleet, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    spec, overlay, rules = fleet / "fleet.toml", fleet / "night.toml", fleet / "policy"
    text = spec.read_text(encoding="utf-8")
    rounds: list[tuple[Callable[[], object], str]] = [
        (lambda: _save(fleet, '"1500 wei / pixel"', '"1600 wei / pixel"'), "Review of two-regions"),
        (lambda: _save(fleet, '"1600 wei / pixel"', '"1000 wei / pixel"'), "1 error"),
        (lambda: spec.write_text(text + "[half", encoding="utf-8"), "error[toml-syntax]"),
        (spec.unlink, "error[spec-missing]"),
        (lambda: spec.write_text(text, encoding="utf-8"), "files written"),
        (lambda: overlay.write_text("[gateways.nobody]\n", encoding="utf-8"), "night.toml:1"),
        (lambda: overlay.write_text("", encoding="utf-8"), "files written"),
        (rules.mkdir, "files written"),
        (lambda: (rules / "one.star").write_text("def check(", encoding="utf-8"), "one.star:1"),
    ]
    seen = b""
    with killed_on_error(process):

        def screen(words: str, cleared: int) -> str:
            """What stands on the screen once it has the words; all before the last clearing is gone."""
            nonlocal seen
            begun = time.monotonic()
            while (shown := seen.split(b"\x1b[2J")) and (len(shown) <= cleared or words.encode() not in shown[-1]):
                assert time.monotonic() - begun < HANGS, (words, shown[-1])
                if select.select([ours], [], [], 1)[0]:
                    seen += os.read(ours, 65536)
            return shown[-1].decode()

        overlay.touch()
        screen("files written", 0)
        for number, (change, words) in enumerate(rounds, 1):
            change()
            screen(words, number)
            time.sleep(0.4)
            while select.select([ours], [], [], 0)[0]:
                seen += os.read(ours, 65536)
            assert words in screen(words, number), "what was shown stays"
        process.send_signal(signal.SIGINT)
        assert process.wait(HANGS) == 0
    os.close(ours)


def test_standard_input_cannot_be_watched(fleet: Path) -> None:
    done = subprocess.run([*COMMAND, "-"], cwd=fleet, capture_output=True, text=True, check=False, timeout=HANGS)
    assert (done.returncode, done.stderr) == (2, "error: --watch looks at files, and - is none; name the spec\n")
