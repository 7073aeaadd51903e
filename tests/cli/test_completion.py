"""What a shell offers at Tab, asked as shells ask, and by a real bash with the script that fleetc prints."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.core import TyperGroup

from fleetc.cli.commands import Listed
from tests.support import ROOT, fleetc, killed_on_error

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
        ("explain codes.mon", ["codes.money", "codes.monitoring"]),
        ("explain -maxPricePerU", ["-maxPricePerUnit"]),
        ("why eu-live -maxPricePerU", ["-maxPricePerUnit"]),
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
def test_tab_in_a_real_bash(tmp_path: Path) -> None:
    own, rc = tmp_path / "fleetc", tmp_path / "rc"
    own.write_text(f'#!/bin/sh\nexec {sys.executable} -m fleetc "$@"\n')
    own.chmod(0o755)
    settings = ("show-all-if-ambiguous on", "enable-bracketed-paste off", "page-completions off", "bell-style none")
    lines = [
        f"PATH={tmp_path}:$PATH",
        *(f"bind 'set {one}'" for one in settings),
        "bind 'set completion-display-width 0'",
    ]
    rc.write_text("\n".join([*lines, "source <(_FLEETC_COMPLETE=source_bash fleetc)", "PS1='$ '", ""]))
    typed = {
        "deploy --limit us-": ["us-ai", "us-edge", "us-gpu-1", "us-gpu-2"],
        "deploy --limit=us-g": ["us-gpu-1", "us-gpu-2"],
        "diff --format=": ["text", "markdown", "html", "json", "sarif", "github", "junit"],
        "diff --release=v0.8.": [f"v0.8.{number}" for number in range(12)],
        "explain codes.mon": ["codes.money", "codes.monitoring"],
        "explain -maxPri": ["-maxPricePerCapability", "-maxPricePerUnit"],
    }
    ours, theirs = pty.openpty()
    command = ["bash", "--rcfile", str(rc), "-i"]
    environment = {**os.environ, "TERM": "dumb", "HISTFILE": ""}
    with killed_on_error(
        subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=FLEET, env=environment, start_new_session=True
        )
    ) as bash:
        shown_until(ours, "$ ")
        for line, expected in typed.items():
            os.write(ours, f"fleetc {line}\t".encode())
            assert shown_until(ours, "\r\n$ fleetc").split("\r\n")[1:-1] == expected, line
            os.write(ours, b"\x15\n")  # an empty line instead
            shown_until(ours, "\r\n$ ")
        os.write(ours, b"\x04")
        assert bash.wait(timeout=60) == 0


def shown_until(terminal: int, end: str) -> str:
    """What a terminal shows from now on, until this text."""
    shown, deadline = "", time.monotonic() + 60
    while end not in shown and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536).decode()
    assert end in shown, shown
    return shown


def test_members_of_counters_and_patterns_are_offered_by_their_own_names(tmp_path: Path) -> None:
    text = '[hosts."gpu-{1..3}"]\naddress = "203.0.113.{1..3}"\n[transcoders."t-{}"]\non = "gpu-*"\n'
    (tmp_path / "fleet.toml").write_text(text, encoding="utf-8")
    assert offered("deploy --limit gpu-", tmp_path) == ["gpu-1", "gpu-2", "gpu-3"]
    assert offered("why t-", tmp_path) == ["t-1", "t-2", "t-3"]
