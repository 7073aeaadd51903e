"""What a shell offers at Tab, asked as shells ask, and by a real bash with the script that fleetc prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.core import TyperGroup

from fleetc.cli.commands import Listed
from tests.support import ROOT, fleetc

FLEET = ROOT / "inventories/two-regions"


def offered(line: str, where: Path = FLEET) -> list[str]:
    """What is offered for the last word of a line, as bash asks for it."""
    words = f"fleetc {line}"
    done = fleetc(cwd=where, COMP_WORDS=words, COMP_CWORD=str(words.count(" ")), _FLEETC_COMPLETE="complete_bash")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ver", ["verify"]),
        ("deploy --limit eu-g", ["eu-gpu-1", "eu-gpu-2"]),
        ("rollback --clear us-e", ["us-edge"]),
        ("deploy --assume-dead us-ai", ["us-ai"]),
        ("why eu-v", ["eu-video-1", "eu-video-2"]),
        ("why eu-live maxPricePerU", ["maxPricePerUnit"]),
        ("why wallets.payer.dep", ["wallets.payer.deposit"]),
        (
            "why hosts.us-edge",
            [f"hosts.us-edge{key}" for key in ("", ".address", ".public", ".region", ".runtime")],
        ),
        ("explain price-above-cap-", ["price-above-cap-now"]),
        ("explain gateways.max_pri", ["gateways.max_price"]),
        ("diagnose eu-edge-1/", ["eu-edge-1/eu-live"]),
        ("diagnose x.log --node us-l", ["us-live"]),
        ("diff --release v0.9", ["v0.9.0", "v0.9.1"]),
        ("deploy --skip rpc-b", ["rpc-behind="]),
        ("init --example du", ["dual-onchain"]),
        ("init --run orch", ["orchestrator"]),
        ("diff --format m", ["markdown"]),
        ("check --over", ["--overlay"]),
        ("streams --stream x", []),
    ],
)
def test_what_is_offered(line: str, expected: list[str]) -> None:
    assert offered(line) == expected


def test_no_command_is_loaded_to_offer_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Listed, "load", None)
    monkeypatch.setattr(TyperGroup, "parse_args", None)  # it imports pydantic, which takes as long as all else
    assert offered("c") == ["check", "compile", "comment"]
    assert {"check", "verify"} <= set(offered(""))
    assert offered("--no") == ["--no-pager"]


def test_streams_and_odd_names_are_offered(tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text('[streams.main]\n[streams.mobile]\n[hosts."a.b".x]\n')
    assert offered("streams --stream m", tmp_path) == ["main", "mobile"]
    assert offered("why hosts.", tmp_path) == ['hosts."a.b"', 'hosts."a.b".x']


@pytest.mark.parametrize(
    "text", [None, "", "hosts = [1,", "hosts = 3", "[gateways]\nx = 1\n", "\ufeff", "a = " + "[" * 5000, "\x00"]
)
def test_a_spec_that_cannot_be_read_offers_nothing_and_says_nothing(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "fleet.toml").write_text(text)
    for line in ("deploy --limit ", "diagnose a/", "streams --stream "):
        assert offered(line, tmp_path) == []


@pytest.mark.usefixtures("processes")
def test_bash_with_the_script_that_is_printed(tmp_path: Path) -> None:
    own = tmp_path / "fleetc"
    own.write_text(f'#!/bin/sh\nexec {sys.executable} -I -m fleetc "$@"\n')
    own.chmod(0o755)
    asked = f"""
PATH={tmp_path}:$PATH
source <(_FLEETC_COMPLETE=source_bash fleetc)
complete -p fleetc
COMP_WORDS=(fleetc deploy --limit us-)
COMP_CWORD=3
_fleetc_completion fleetc
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(
        ["bash", "--norc"], input=asked, cwd=FLEET, capture_output=True, text=True, timeout=60, check=False
    )
    first, *names = done.stdout.splitlines()
    assert "-F _fleetc_completion fleetc" in first, done.stderr
    assert names == ["us-ai", "us-edge", "us-gpu-1", "us-gpu-2"]


def test_members_of_counters_and_patterns_are_offered_by_their_own_names(tmp_path: Path) -> None:
    text = '[hosts."gpu-{1..3}"]\naddress = "203.0.113.{1..3}"\n[transcoders."t-{}"]\non = "gpu-*"\n'
    (tmp_path / "fleet.toml").write_text(text, encoding="utf-8")
    assert offered("deploy --limit gpu-", tmp_path) == ["gpu-1", "gpu-2", "gpu-3"]
    assert offered("why t-", tmp_path) == ["t-1", "t-2", "t-3"]
