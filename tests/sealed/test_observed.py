"""What the answers of a host mean, also of one that answers nonsense."""

from __future__ import annotations

from typing import Any

import pytest

from compiler.ops.observe import ACTIVE, CONTAINERS, DIGESTS, LINK, MARKERS, TASKS, UNITS, said
from compiler.reading import read_playbooks
from compiler.sealed.data import OBSERVED, HostState, Process

A, B = "a" * 64, "b" * 64
MARKER = "/var/lib/fleetc/running/"
ANSWERS: dict[str, dict[str, Any]] = {
    LINK: {"stat": {"exists": True, "islnk": True, "lnk_target": f"releases/{A}", "lnk_source": "/opt/x"}},
    MARKERS: {"files": [{"path": MARKER + name} for name in ("orch", "gate", "cut", "box")]},
    DIGESTS: {"rc": 0, "stdout_lines": [f"{MARKER}gate:{A}", f"{MARKER}orch:{B}", f"{MARKER}box:{B}"]},
    UNITS: {"files": [{"path": f"/etc/systemd/system/livepeer-{name}.service"} for name in ("gate", "orch", "cut")]},
    ACTIVE: {"rc": 0, "stdout_lines": ["livepeer-gate.service loaded active running Gateway livepeer-orch.service"]},
    CONTAINERS: {"rc": 0, "stdout_lines": ["livepeer-box", "somebody-elses"]},
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
    }
    assert said("edge", nothing) == HostState("edge", OBSERVED)


def test_a_program_that_cannot_tell_leaves_it_open() -> None:
    state = said("edge", ANSWERS | {ACTIVE: {"rc": 1, "stdout_lines": []}, CONTAINERS: {"rc": 1, "stdout_lines": []}})
    assert {process.running for process in state.processes} == {None}


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
    ],
)
def test_nonsense_is_an_error_that_the_caller_expects(task: str, answer: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        said("edge", ANSWERS | {task: answer})


def test_the_role_has_the_tasks_that_are_asked_for() -> None:
    text = read_playbooks()["roles/fleet_observe/tasks/main.yml"].decode()
    assert [line.removeprefix("- name: ") for line in text.splitlines() if line.startswith("- name: ")] == list(TASKS)
