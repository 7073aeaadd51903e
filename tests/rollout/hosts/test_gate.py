"""The gate judges a run by what the program on each host answered, not by Ansible's own word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.gate import ACTIVATE, BEGIN, END, STAGE, TASKS, HostOutcome, outcomes

A, B = "a" * 64, "b" * 64
STATE = {"state": {"release": A}}
Answers = Mapping[str, Any]


def said(**facts: object) -> dict[str, Any]:
    return {"format": 1, "ok": True, "changed": True, **facts}


def switch(phase: str, *reasons: str) -> dict[str, Any]:
    facts = {"id": "1", "phase": phase, "to": f"{B}.1", "reasons": list(reasons), "words": ["log"], "restarted": ["gw"]}
    return said(switch=facts, seconds=7)


WATCHING = {
    **{"id": "1", "phase": "watching", "to": f"{B}.1", "reasons": [], "words": [], "restarted": ["gw"]},
    **{"waits": ["gw: it does not listen on port 8935"], "waited": 40, "limit": 180, "returns": 300},
}
BEGUN: Answers = {BEGIN: said(**STATE), STAGE: said(release=f"{B}.1")}
HEALTHY: Answers = {**BEGUN, ACTIVATE: switch("healthy")}
CONFIRMED: Answers = {**HEALTHY, END: said()}
LOST = "Failed to connect to the host via ssh: ssh: Connection timed out"
CASES: dict[str, tuple[Answers, tuple[Event, ...], str, str]] = {
    "nothing to do": ({BEGIN: said(**STATE, needed=False)}, (), "unchanged", ""),
    "only the plan was written down": ({BEGIN: said(needed=False)}, (), "unchanged", ""),
    "refused": ({BEGIN: {"format": 1, "ok": False}}, (Event("failed", "h", BEGIN, "no"),), "old", "no"),
    "no disk": ({BEGIN: said(**STATE)}, (Event("failed", "h", STAGE, "disk full"),), "old", "disk full"),
    "cut before": (
        BEGUN,
        (Event("unreachable", "h", STAGE, LOST),),
        "old",
        "could not be reached: Connection timed out",
    ),
    "cut in the switch": (
        BEGUN,
        (Event("unreachable", "h", ACTIVATE, LOST),),
        "unknown",
        "could not be reached: Connection timed out; without a confirmation it goes back by itself",
    ),
    "cut while it waits": (
        {**BEGUN, ACTIVATE: said(received=1000.0, switch=WATCHING)},
        (Event("unreachable", "h", ACTIVATE, LOST),),
        "unknown",
        "Connection timed out; it waited: gw: it does not listen on port 8935, 40 s of 180; without a confirmation it",
    ),
    "cut at the confirmation": (
        HEALTHY,
        (Event("unreachable", "h", END, LOST),),
        "unknown",
        "could not be reached: Connection timed out; without a confirmation it goes back by itself",
    ),
    "another of its batch is ill": (
        {**HEALTHY, END: switch("reverted", "another host of its batch failed")},
        (Event("failed", "h", END, ""),),
        "reverted",
        "another host of its batch failed",
    ),
    "it could not go back": (
        {**BEGUN, ACTIVATE: switch("quarantined", "no image")},
        (Event("failed", "h", ACTIVATE, ""),),
        "quarantined",
        "no image",
    ),
    "it cannot go back yet": (
        {**BEGUN, ACTIVATE: said(switch={**switch("stuck", "gw does not run")["switch"], "waits": ["going back: x"]})},
        (Event("failed", "h", ACTIVATE, ""),),
        "unknown",
        "gw does not run; going back: x",
    ),
    "another of its batch cannot take part": (BEGUN, (), "old", "another host of its batch could not take part"),
    "healthy and never confirmed": (HEALTHY, (), "unknown", "it goes back by itself"),
    "an answer of another program": ({BEGIN: {"format": 2, "ok": True, "needed": False}}, (), "old", ""),
    "a switch that is none": ({**BEGUN, ACTIVATE: said(switch=["healthy"])}, (), "unknown", "it goes back by itself"),
}


def run_of(answers: Answers, failures: tuple[Event, ...] = (), status: str = "successful") -> RunResult:
    return RunResult(status, 0, {"ok": {"h": 1}}, failures, answers={"h": dict(answers)})


@pytest.mark.parametrize("name", CASES)
def test_what_became_of_a_host(name: str) -> None:
    answers, failures, result, reason = CASES[name]
    (found,) = outcomes(["h"], run_of(answers, failures))
    assert found.result == result
    assert reason in found.reason


def test_all_that_a_confirmed_host_says() -> None:
    (found,) = outcomes(["h"], run_of(CONFIRMED))
    assert found == HostOutcome("h", "new", "", A, B, ("gw",), 7.0, ("log",))


def test_a_host_that_no_play_reached_is_not_taken_for_done() -> None:
    (found,) = outcomes(["other"], run_of(CONFIRMED))
    assert (found.result, found.reason) == ("old", "Ansible did not reach it")


@pytest.mark.parametrize("status", ["timeout", "canceled"])
def test_a_run_that_was_ended_leaves_its_hosts_unknown(status: str) -> None:
    (found,) = outcomes(["h"], run_of(BEGUN, status=status))
    assert found.result == "unknown"


def test_host_of_an_interrupted_run_says_what_it_waited_for_and_when_it_goes_back() -> None:
    run = replace(run_of({**BEGUN, ACTIVATE: said(received=1000.0, switch=WATCHING)}, status="canceled"), stats=None)
    (found,) = outcomes(["h"], run)
    assert (found.result, found.until) == ("unknown", "1970-01-01T00:21:40Z")
    assert found.reason == "interrupted; it waited: gw: it does not listen on port 8935, 40 s of 180"


def test_tasks_are_those_of_the_role() -> None:
    import yaml

    from fleetc.disk.reading import read_playbooks

    playbooks = read_playbooks()
    files = [
        yaml.safe_load(playbooks[f"roles/fleet_host/tasks/{name}.yml"]) for name in ("begin", "end", "main", "observe")
    ]
    assert set(TASKS) <= {task["name"] for tasks in files for task in tasks}


@pytest.mark.parametrize(
    ("results", "code"),
    [
        (["new", "unchanged"], 0),
        (["new", "old"], 1),
        (["new", "reverted", "old"], 4),
        (["reverted", "unknown"], 5),
        (["quarantined", "new"], 5),
    ],
)
def test_exit_code(results: list[Any], code: int) -> None:
    assert Outcome(tuple(HostOutcome("h", result) for result in results), (), False).exit_code == code


@pytest.mark.parametrize("phase, after", [("healthy", B), ("reverted", A)])
def test_release_before_is_what_a_host_said_earlier_where_a_batch_did_not_ask(phase: str, after: str) -> None:
    answers = {STAGE: said(release=f"{B}.1"), ACTIVATE: switch(phase), END: said()}
    (found,) = outcomes(["h"], run_of(answers), {"h": A})
    assert (found.before, found.after) == (A, after)
