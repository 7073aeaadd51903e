"""The commands of the guide's page about verify, as they stand there, and what they show of a drift."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.docs.test_pages import FLEET, GUIDE, blocks
from tests.rollout.verify.given import GivenHosts
from tests.rollout.verify.looks import found
from tests.support import fleetc

PRICE = found(
    "drift",
    "set-at-run-time",
    "gpu-1",
    "orch-a",
    "gpu-1: orch-a: it says that pricePerUnit is 900 instead of 1200",
    ("orchestrators", "orch-a", "price"),
    "somebody set it while the node runs; deploy again to undo it, or write the value into the spec",
)


def test_commands_of_the_page_say_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (script,) = [content for words, content in blocks(GUIDE["verify"], "sh") if words == "verify"]
    (shown,) = [content for words, content in blocks(GUIDE["verify"], "text") if words == "verify"]
    (tmp_path / "fleet.toml").write_text(FLEET, encoding="utf-8")
    assert fleetc("compile", cwd=tmp_path).returncode == 0
    fleet = GivenHosts(monkeypatch)
    monkeypatch.setattr("fleetc.online.public.ask_public", lambda urls: {})
    monkeypatch.setattr("fleetc.rollout.verify.public.findings", lambda *_: ())
    lines = [shlex.split(line, comments=True) for line in script.splitlines()]
    assert {words[0] for words in lines} == {"fleetc"}
    for number, (_, *words) in enumerate(lines):
        fleet.looks, fleet.facts, fleet.number = [(PRICE,)], (), -1
        done = fleetc(*words, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        if number == 0:
            assert done.stderr + done.stdout == shown
    assert "set-at-run-time" in (tmp_path / "fleet.html").read_text(encoding="utf-8")
    assert 'node="orch-a",kind="drift"} 1' in (tmp_path / "fleet.prom").read_text(encoding="utf-8")


def test_exit_codes_of_the_page_are_those_of_the_help() -> None:
    rows = [line.split("|")[1].strip() for line in GUIDE["verify"].splitlines() if line.startswith("| ")]
    assert rows == ["Exit code", "0", "1", "4"]
    said = " ".join(fleetc("verify", "--help").stdout.split())
    assert "Exit codes: 0 as reviewed, 1 drift, 4 a part could not be checked." in said
