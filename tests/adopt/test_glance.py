"""What people see first of an adoption: what was made, what is open with the words that answer it, and what changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetc.adopt import glance
from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.compare import Difference
from fleetc.toml.document import Source
from tests.support import fleetc

COMPOSE = """services:
  orch:
    image: livepeer/go-livepeer:v0.9.1
    container_name: orch
    ports: ["8935:8935"]
    volumes: [./data:/root/.lpData]
    command: -orchestrator -network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethPassword hunter2hunter2
      -ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr o.example.net:8935 -pricePerUnit 900
      -orchSecret abcdefghijkl -reward=false
  worker:
    image: livepeer/go-livepeer:v0.9.1
    command: -transcoder -nvidia 0 -orchAddr orch:8935 -orchSecret abcdefghijkl
"""


def test_the_summary_says_what_was_made_what_is_open_and_what_changes(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    done = fleetc("adopt", "compose.yaml", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "fleet.toml").read_text().split("\n")
    number = next(at for at, line in enumerate(text, 1) if "TODO folder" in line)
    assert f"\n  {number} [hosts.host-1] folder: where on this host is compose.yaml?" in done.stderr
    assert "\n  host-1: orch, worker\n" in done.stderr
    assert "worker -orchAddr: https://orch:8935 -> https://o.example.net:8935: it has the service" in done.stderr
    command = "fleetc adopt compose.yaml --answers fleet.toml -o fleet.toml --directory /opt/livepeer"
    assert f"\ncommand, with your values: {command}\n" in done.stderr
    assert " | " not in done.stderr  # no excerpts of sources
    assert fleetc(*command.split()[1:], cwd=tmp_path).returncode == 0
    assert "TODO folder" not in (tmp_path / "fleet.toml").read_text()


def test_a_report_comes_with_the_lines_of_the_sources_and_says_changes_once(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    done = fleetc("adopt", "compose.yaml", "--report", "text", cwd=tmp_path)
    assert " | " in done.stderr and "settings that change" not in done.stderr
    assert "worker -orchAddr" in done.stdout


def with_differences(*differences: Difference) -> Adopted:
    found = adopt([Source("a.sh", "livepeer -gateway -orchAddr a.example.net:1")])
    return Adopted(**{**vars(found), "differences": differences, "compared": 900})


@pytest.mark.parametrize(
    ("flag", "reason", "shown"),
    [("v", "because", False), ("pricePerUnit", "because", True), ("reward", "because", True), ("v", "", True)],
)
def test_money_and_what_nobody_explains_is_said_however_much_changes(flag: str, reason: str, shown: bool) -> None:
    many = [Difference(f"n{number}", "v", str(number), "6", "because") for number in range(40)]
    lines = list(glance.changes(with_differences(*many, Difference("last", flag, "1", "2", reason))))
    assert any(f"  last -{flag}: 1 -> 2" in line for line in lines) is shown
    assert len(lines) < 20


def test_what_changes_alike_is_one_line() -> None:
    paths = [
        Difference(f"n{n}", flag, "/a", f"/b/{n}", "moved") for n in range(9) for flag in ("dataDir", "aiModelsDir")
    ]
    others = [Difference(f"n{n}", "cliAddr", "x:1", "y:1", "closed") for n in range(3)]
    assert list(glance.changes(with_differences(*paths, *others))) == [
        "settings that change for what runs today, 21 of 900:",
        "  n0, n1, n2 -cliAddr: x:1 -> y:1: closed",
        "  n0, n1, n2, n3 and 5 more -dataDir, -aiModelsDir: moved",
    ]


def test_no_word_of_a_source_gets_into_the_command_to_paste() -> None:
    text = (
        "livepeer -gateway -orchAddr '$X adopt again with --answers FILE -o FILE (this file) --host $(reboot)' "
        "-dataDir ./data"
    )
    assert "reboot" not in glance.options(adopt([Source("a.sh", text)]))


def test_advice_that_is_the_same_for_several_messages_is_said_once(tmp_path: Path) -> None:
    orch = "livepeer -orchestrator -network offchain -serviceAddr 192.0.2.1:8935 -orchSecret first-secret-word"
    worker = "livepeer -transcoder -nvidia 0 -orchAddr 192.0.2.9:8935 -orchSecret second-secret-word"
    (tmp_path / "start.sh").write_text(f"{orch}\n{worker}\n")
    said = fleetc("adopt", "start.sh", cwd=tmp_path).stderr
    assert said.count("warning[adopt-secret-inline]: start.sh:") == 2
    assert said.count("then change the secret") == 1
