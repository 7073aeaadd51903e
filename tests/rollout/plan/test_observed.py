"""What the answer of a host means, also of one that answers nonsense."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import Any

import pytest

from fleetc.emit.host_program import HOST_STEPS, steps_in
from fleetc.planner.data import OBSERVED, UNKNOWN, HostState, ProcessState
from fleetc.planner.states import recorded_states, steps_between
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.gate import OBSERVE
from fleetc.rollout.hosts.observe import _seen, newest_plan, said
from fleetc.rollout.plan.data import NewestPlan
from tests.support import compiled_example, shipped

A, B, D = "a" * 64, "b" * 64, "d" * 64
GATE = {"node": "gate", "digest": A, "runtime": "systemd", "running": True, "drift": []}
STATE: dict[str, Any] = {
    "release": A,
    "processes": [
        {"node": "orch", "digest": B, "runtime": "docker", "running": None, "drift": ["its secrets were changed"]},
        GATE,
        {"node": "avatar/slot-01", "digest": B, "runtime": "docker", "running": False, "project": "luna", "turn": D},
    ],
    "newest": f"2026-03-01T12:00:00Z {A}",
}


def seen(state: Any, *failures: Event) -> HostState:
    answers = {"edge": {OBSERVE: {"format": 1, "ok": True, "state": state}}}
    return _seen("edge", RunResult("successful", 0, {}, failures, answers=answers)).state


def test_answer_of_a_host() -> None:
    assert said("edge", STATE) == HostState(
        "edge",
        OBSERVED,
        A,
        (
            ProcessState("avatar/slot-01", B, "docker", False, project="luna", turn=D),
            ProcessState("gate", A, "systemd", True),
            ProcessState(
                "orch",
                B,
                "docker",
                None,
                drift=("its secrets were changed",),
                unanswered=("its host does not say whether it runs",),
            ),
        ),
    )


def there(numbers: random.Random, wanted: HostState) -> dict[str, Any]:
    """What a host may say of itself whose processes are not all as a release wants them."""
    processes = []
    for process in wanted.processes:
        one = {**asdict(process), "secrets": None, "running": True, "exclusive": list(process.exclusive)}
        one |= {"digest": numbers.choice([one["digest"]] * 3 + ["", D]), "running": numbers.random() < 0.8}
        one |= {"rest": numbers.choice([one["rest"], D]), "live": list(process.live[: numbers.randint(0, 9)])}
        one |= {kind: [f"some {kind}"] for kind in ("drift", "was_set", "ill", "unanswered") if numbers.random() < 0.1}
        others = [{**one, "node": "other", "taken": True}] if numbers.random() < 0.2 else []
        processes += [one, *others] if numbers.random() < 0.9 else others
    return {"release": numbers.choice([wanted.release, D]), "processes": processes}


def test_plan_lists_what_a_host_does_whatever_it_runs() -> None:
    """Both by the same function; what a plan has of the answer of a host must lead it to the same steps."""
    module, numbers = shipped()[1][HOST_STEPS], random.Random(19)
    for example in ("two-regions", "avatar-stage", "dual-onchain"):
        tree = compiled_example(example).tree
        assert tree is not None
        for host, wanted in recorded_states(tree).items():
            goal = {**asdict(wanted), "processes": [asdict(process) for process in wanted.processes]}
            for live in ("try", "only", "never"):
                state = there(numbers, wanted)
                planned = [asdict(step) for step in steps_between(module, said(host, state), wanted, live)]
                assert planned == steps_in(module)(state, goal | {"live": live}), (host, state)


def test_settings_that_a_host_can_change_live() -> None:
    told = GATE | {"rest": B, "live": ["v=3", "maxSessions=8"], "silent": ["maxPricePerCapability a b\x1b=1"]}
    (process,) = said("edge", STATE | {"processes": [told]}).processes
    assert (process.rest, process.live) == (B, ("v=3", "maxSessions=8"))
    assert process.silent == ("maxPricePerCapability a b\\x1b=1",)


def test_a_release_that_is_no_digest_is_shown_as_it_is() -> None:
    assert said("edge", STATE | {"release": "/tmp/x\x1b[31m\udcff"}).release == "/tmp/x\\x1b[31m\\udcff"


NONSENSE: list[Any] = [
    None,
    STATE | {"release": 3},
    STATE | {"processes": 3},
    STATE | {"processes": [None]},
    STATE | {"processes": [GATE | {"node": "x" * 5000}]},
    STATE | {"processes": [GATE | {"running": "yes"}]},
    STATE | {"processes": [GATE | {"runtime": "podman"}]},
    STATE | {"processes": [GATE | {"drift": [None]}]},
    STATE | {"processes": [GATE | {"live": ["v=" + "9" * 5000]}]},
    STATE | {"processes": [GATE | {"rest": ["x"] * 5000}]},
]


@pytest.mark.parametrize("state", NONSENSE)
def test_nonsense_is_unknown_with_a_reason(state: Any) -> None:
    assert seen(state) == HostState("edge", UNKNOWN, note="its answer makes no sense")


def test_a_host_that_failed_or_cannot_be_reached_says_why() -> None:
    unreachable = Event("unreachable", "edge", OBSERVE, "Failed to connect to the host via ssh: ssh: no route\n")
    assert seen(STATE, unreachable).note == "could not be reached: ssh says no route"
    assert seen(STATE, Event("failed", "edge", OBSERVE, "no python3\x1b[0m")).note == "failed: no python3\\x1b[0m"
    nothing = _seen("edge", RunResult("failed", 4, None, last_words=("ERROR! no inventory",))).state
    assert (nothing.known, nothing.note) == (UNKNOWN, "ERROR! no inventory")


def test_the_newest_plan_of_a_host() -> None:
    assert newest_plan(f"2026-03-01T12:00:00Z {A}") == NewestPlan("2026-03-01T12:00:00Z", A)
    assert newest_plan("2026-03-01T12:00:00Z -") == NewestPlan("2026-03-01T12:00:00Z", "-")
    assert newest_plan("") is None


@pytest.mark.parametrize("line", [f"2026-03-01T12:00:00Z {A} ", "2026-03-01T12:00:00Z \x1b[31m", 3, None, "-"])
def test_a_record_that_makes_no_sense_is_not_taken_for_none(line: Any) -> None:
    """Else a host whose record was damaged would take any plan of before."""
    assert seen(STATE | {"newest": line}).note == "its record of the newest plan makes no sense"
