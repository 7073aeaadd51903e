"""What the answers of a host mean, also of one that answers nonsense."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from fleetc.disk.reading import read_playbooks
from fleetc.rollout.hosts.observe import (
    ACTIVE,
    CONTAINERS,
    DIGESTS,
    LINK,
    MARKERS,
    NEWEST,
    PROJECTS,
    STACK,
    TABLES,
    TASKS,
    UNITS,
    _seen,
    newest_plan,
    said,
)
from fleetc.rollout.hosts.runner import RunResult
from fleetc.rollout.plan.data import OBSERVED, HostState, NewestPlan, Process

A, B, C, D = "a" * 64, "b" * 64, "c" * 64, "d" * 64
MARKER = "/var/lib/fleetc/running/"
ANSWERS: dict[str, dict[str, Any]] = {
    LINK: {"stat": {"exists": True, "islnk": True, "lnk_target": f"releases/{A}", "lnk_source": "/opt/x"}},
    MARKERS: {"files": [{"path": MARKER + name} for name in ("orch", "gate", "cut", "box")]},
    DIGESTS: {"rc": 0, "stdout_lines": [f"{MARKER}gate:{A}", f"{MARKER}orch:{B}", f"{MARKER}box:{B}"]},
    UNITS: {"files": [{"path": f"/etc/systemd/system/livepeer-{name}.service"} for name in ("gate", "orch", "cut")]},
    ACTIVE: {"rc": 0, "stdout_lines": ["livepeer-gate.service loaded active running Gateway livepeer-orch.service"]},
    CONTAINERS: {"rc": 0, "stdout_lines": ["livepeer-box", "somebody-elses"]},
    STACK: {"rc": 1, "stdout_lines": []},
    PROJECTS: {"rc": 0, "stdout_lines": ["livepeer-box"]},
    TABLES: {"rc": 0, "stdout_lines": ["skipped, since /var/lib/fleetc/avatar does not exist"]},
    NEWEST: {"rc": 0, "stdout_lines": [f"2026-03-01T12:00:00Z {A}"]},
}


def test_answers_of_a_host() -> None:
    assert said("edge", ANSWERS) == HostState(
        "edge",
        OBSERVED,
        A,
        (
            Process("box", B, "docker", True),
            Process("cut", "", "systemd", False),
            Process("gate", A, "systemd", True),
            Process("orch", B, "systemd", False),
        ),
    )


def test_a_bare_host_without_docker() -> None:
    nothing: dict[str, dict[str, Any]] = {
        LINK: {"stat": {"exists": False}},
        MARKERS: {"files": [], "msg": "Not all paths were searched"},
        DIGESTS: {"rc": 2, "stdout_lines": []},
        UNITS: {"files": []},
        ACTIVE: {"rc": 0, "stdout_lines": []},
        CONTAINERS: {"rc": 2, "msg": "Error executing command."},
        STACK: {"rc": 1, "stdout_lines": []},
        PROJECTS: {"rc": 2, "msg": "Error executing command."},
        TABLES: {"rc": 0, "stdout_lines": ["skipped, since /var/lib/fleetc/avatar does not exist"]},
    }
    assert said("edge", nothing) == HostState("edge", OBSERVED)


def test_a_program_that_cannot_tell_leaves_it_open() -> None:
    state = said("edge", ANSWERS | {ACTIVE: {"rc": 1, "stdout_lines": []}, CONTAINERS: {"rc": 1, "stdout_lines": []}})
    assert {process.running for process in state.processes} == {None}


def test_answers_of_a_host_with_an_avatar_stack() -> None:
    """`luna` has no containers, `mira` was not started to its end, and a marker of another release means nothing."""
    own = hashlib.sha256(f"{B} {C}".encode()).hexdigest()
    lines = [f"slot-01.luna {B} {C} {D}", f"slot-00.mira {B} {C} starting", f"host {A} {D}", f"firewall {A}", "other 3"]
    stack: dict[str, dict[str, Any]] = {
        MARKERS: {"files": []},
        STACK: {"rc": 0, "stdout_lines": lines},
        PROJECTS: {"rc": 0, "stdout_lines": ["mira", "mira", "vtuber-host"]},
        TABLES: {"rc": 0, "stdout_lines": ["table ip filter", "table inet fleetc_avatar"]},
    }
    units = (
        Process("avatar/firewall", A, "systemd", True),
        Process("avatar/host", A, "docker", True),
        Process("avatar/slot-00", "", "docker", True, project="mira"),
        Process("avatar/slot-01", own, "docker", False, project="luna", turn=D),
        Process("avatar/turn", D, "docker", True),
    )
    assert said("edge", ANSWERS | stack).processes == units
    blind = stack | {PROJECTS: {"rc": 1, "msg": "no docker"}, TABLES: {"rc": 1, "stdout_lines": []}}
    assert {process.running for process in said("edge", ANSWERS | blind).processes} == {None}
    cut = stack | {STACK: {"rc": 0, "stdout_lines": ["host starting "]}}
    assert said("edge", ANSWERS | cut).processes == (Process("avatar/host", "", "docker", True),)


def test_a_link_that_leads_elsewhere_is_shown_as_it_is() -> None:
    stat = {"exists": True, "islnk": True, "lnk_target": "/tmp/x\x1b[31m\udcff"}
    assert said("edge", ANSWERS | {LINK: {"stat": stat}}).release == "/tmp/x\\x1b[31m\\udcff"
    assert said("edge", ANSWERS | {LINK: {"stat": {"exists": True, "islnk": False}}}).release == "not a link"


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        (LINK, {}),
        (LINK, {"stat": {"exists": True, "islnk": True, "lnk_target": "x" * 5000}}),
        (MARKERS, {"files": 3}),
        (MARKERS, {"files": [{"path": 3}]}),
        (UNITS, {"files": [None]}),
        (ACTIVE, {"rc": 0}),
        (DIGESTS, {"stdout_lines": [3]}),
        (STACK, {"stdout_lines": [3]}),
        (STACK, {"stdout_lines": [""]}),
        (PROJECTS, {"rc": 0}),
        (TABLES, {"rc": 0, "stdout_lines": [None]}),
    ],
)
def test_nonsense_is_an_error_that_the_caller_expects(task: str, answer: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        said("edge", ANSWERS | {task: answer})


def test_the_role_has_the_tasks_that_are_asked_for() -> None:
    text = read_playbooks()["roles/fleet_observe/tasks/main.yml"].decode()
    assert [line.removeprefix("- name: ") for line in text.splitlines() if line.startswith("- name: ")] == list(TASKS)


def test_the_newest_plan_of_a_host() -> None:
    assert newest_plan(ANSWERS[NEWEST]) == NewestPlan("2026-03-01T12:00:00Z", A)
    assert newest_plan({"rc": 0, "stdout_lines": ["2026-03-01T12:00:00Z -"]}) == NewestPlan("2026-03-01T12:00:00Z", "-")
    absent = "skipped, since /var/lib/fleetc/newest-plan does not exist"
    assert newest_plan({"rc": 0, "stdout_lines": [absent]}) is None


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"rc": 0, "stdout_lines": []},
        {"rc": 1, "stdout_lines": [f"2026-03-01T12:00:00Z {A}"]},
        {"rc": 1, "stdout_lines": []},
        {"rc": 0, "stdout_lines": [f"2026-03-01T12:00:00Z {A}", ""]},
        {"rc": 0, "stdout_lines": [f"2026-03-01T12:00:00Z {A} "]},
        {"rc": 0, "stdout_lines": ["2026-03-01T12:00:00Z \x1b[31m"]},
        {"rc": 0, "stdout_lines": [3]},
        {"rc": 0, "stdout_lines": None},
    ],
)
def test_a_record_that_makes_no_sense_is_not_taken_for_none(answer: dict[str, Any]) -> None:
    """Else a host whose record was damaged would take any plan of before."""
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        newest_plan(answer)
    result = RunResult("successful", 0, {}, answers={"edge": ANSWERS | {NEWEST: answer}})
    assert _seen("edge", result).state.note == "its record of the newest plan makes no sense"
