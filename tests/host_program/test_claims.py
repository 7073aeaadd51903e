"""Claims of a host: one rollout at a time, and nobody who was pushed aside comes back."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import loaded

WANTED: dict[str, Any] = {
    "fleet": "aurora", "host": "edge", "digest": "d" * 64, "services": [], "stack": None, "runtime": "systemd",
}  # fmt: skip
PLAN = {"created": "2026-03-01T12:00:00Z", "seal": "-"}


class Machine:
    """A host on which nothing runs; `runs` in the answer of begin depends on what it has."""

    def __init__(self, root: Path) -> None:
        self.space = loaded(root)
        self.claim_file = Path(self.space["CLAIM"])

    def ask(self, do: str, owner: str, **more: Any) -> dict[str, Any]:
        given = {"id": owner, "who": f"{owner} on ci"} if owner else {}
        request = {"format": 1, "do": do, "wanted": WANTED, "plan": PLAN, "owner": given, "keep": 3, **more}
        answer: dict[str, Any] = self.space["answer"](request)
        return answer

    def begin(self, owner: str, **more: Any) -> dict[str, Any]:
        return self.ask("begin", owner, **more)

    @property
    def holder(self) -> str | None:
        if not self.claim_file.exists():
            return None
        found: str = json.loads(self.claim_file.read_text())["owner"]["id"]
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_claim_from_begin_to_end(machine: Machine) -> None:
    assert machine.begin("a")["ok"] and machine.holder == "a"
    assert machine.begin("a", claimed=True)["ok"]
    refused = machine.begin("b")
    assert (refused["ok"], refused["code"], refused["owner"]["id"]) == (False, "host-claimed", "a")
    assert "the rollout a of a on ci has claimed this host since 0 min" in refused["message"]
    assert machine.ask("end", "b")["ok"] and machine.holder == "a"
    assert machine.ask("end", "a")["ok"] and machine.holder is None
    assert machine.begin("b")["ok"] and machine.holder == "b"


@pytest.mark.parametrize("do", ["stage", "activate", "confirm", "retire"])
def test_every_change_needs_the_claim(machine: Machine, do: str) -> None:
    machine.begin("a")
    more = {"release": "x", "id": "x", "nodes": [], "fleet": "aurora", "host": "edge"}
    assert machine.ask(do, "b", **more)["code"] == "host-claimed"


def test_dead_rollout_is_taken_over_and_does_not_come_back(machine: Machine) -> None:
    machine.begin("a")
    assert machine.begin("b", dead=["a"])["ok"] and machine.holder == "b"
    assert machine.begin("a", claimed=True)["code"] == "host-claimed"
    machine.ask("end", "b")
    assert machine.begin("a", claimed=True)["code"] == "claim-lost"


def test_claim_has_no_end_of_its_own(machine: Machine) -> None:
    machine.begin("a")
    claim = json.loads(machine.claim_file.read_text())
    machine.claim_file.write_text(json.dumps({**claim, "at": time.time() - 86400 * 7}))
    assert "since 10080 min" in machine.begin("b")["message"]


def test_dry_run_claims_nothing_and_is_not_refused(machine: Machine) -> None:
    assert machine.begin("a", check=True)["ok"] and machine.holder is None
    machine.begin("a")
    assert machine.begin("b", check=True)["ok"] and machine.holder == "a"


def test_stock_ansible_has_no_claim_and_respects_that_of_others(machine: Machine) -> None:
    assert machine.begin("")["ok"] and machine.holder is None
    machine.begin("a")
    assert machine.begin("")["code"] == "host-claimed"


def test_release_that_is_not_kept_is_refused_with_those_that_are(machine: Machine) -> None:
    answer = machine.begin("a", back_to="e" * 64)
    assert answer["code"] == "release-not-kept"
    assert "does not keep the release eeeeeeeeeeee; it has none" in answer["message"]


def test_claim_without_its_time_still_keeps_others_away(machine: Machine) -> None:
    machine.begin("a")
    claim = json.loads(machine.claim_file.read_text())
    del claim["at"]
    machine.claim_file.write_text(json.dumps(claim))
    refused = machine.begin("b")
    assert refused["code"] == "host-claimed"
    words = "the rollout a of a on ci has claimed this host; nothing was changed here for 0 min; "
    assert refused["message"] == f"{words}wait for its end, or if it is dead: fleetc deploy --take-over a"


def test_refusal_says_what_the_other_rollout_does_here(machine: Machine) -> None:
    """That tells a person whether it is dead."""
    machine.begin("a")
    hour_ago = time.time() - 3600
    os.utime(machine.space["JOURNAL"], (hour_ago, hour_ago))
    assert "nothing was changed here for 60 min; wait" in machine.begin("b")["message"]
    now = {"boot": machine.space["boot_id"](), "until": time.monotonic() + 250.2}
    machine.space["write_json"](machine.space["SWITCH"], {"id": "1", "phase": "watching", **now})
    said = machine.begin("b")["message"]
    assert "a switch here is watching, and the host goes back by itself within 250 s; wait" in said


def test_rollout_that_ends_lets_go_of_a_host_whose_switch_goes_on(machine: Machine) -> None:
    """The process that carries it out holds the lock, for minutes maybe."""
    machine.begin("a")
    with machine.space["locked"](1):
        assert machine.ask("end", "b")["ok"] and machine.holder == "a"
        assert machine.ask("end", "a")["ok"] and machine.holder is None
