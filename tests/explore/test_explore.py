"""Rollouts in the simulated world: no fault at any moment breaks a promise, and planted faults are found."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import yaml

from tests.explore import fleet
from tests.explore.explorer import Event, Explorer, Scenario, replayed, shrunk
from tests.explore.faults import PLANTED, Planted, found
from tests.explore.specs import LARGE, SMALL
from tests.support import ROOT

SCENARIOS = {scenario.name: scenario for scenario in (*SMALL, *LARGE)}

FIRST_FAULTS = (0, 3, 4, 12)
"""Those of PLANTED that the fast tests plant."""


def explored(scenario: Scenario, depth: int = 1, every: int = 1) -> None:
    """Explore a rollout; a violation is shown with the fewest events."""
    result = Explorer(scenario, depth, every=every).explore(limit=3)
    for violation in result.violations:
        events = shrunk(scenario, violation.events) if violation.events else ()
        pytest.fail(f"{scenario.name}: {violation}\nreplayed(SCENARIOS[{scenario.name!r}], {list(events)!r})")
    print(f"{scenario.name}: {result.runs} runs, {len(result.states)} states, {len(result.quiet)} of them quiet")


@pytest.mark.parametrize("name", [scenario.name for scenario in SMALL])
def test_one_host_keeps_its_promises(name: str) -> None:
    explored(SCENARIOS[name], every=9)


@pytest.mark.parametrize("name", [scenario.name for scenario in LARGE])
def test_rollout_without_a_fault(name: str) -> None:
    explored(SCENARIOS[name], depth=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_each_fault_at_each_moment(name: str) -> None:
    explored(SCENARIOS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [scenario.name for scenario in SMALL])
def test_each_pair_of_deaths_on_one_host(name: str) -> None:
    """Processes that die, and a host that loses its power, twice in one rollout."""
    explored(replace(SCENARIOS[name], faults=("kill", "cut", "die", "lost")), depth=2)


DIES_AGAIN = Event(1, "one unlink /etc/fleetc/.room", "kill")
FOUND = [
    (PLANTED[20], "restarts, small", (Event(1, "one unlink /opt/fleetc/.room", "late cut"),)),
    (PLANTED[10], "moves, and is ill there", (Event(1, "one rename /opt/fleetc/current/gate-one", "kill"),)),
    (PLANTED[32], "moves", (Event(1, "- ann asks two: activate", "long pause"),)),
    (PLANTED[26], "is ill, small", (Event(14, "one rename /var/lib/fleetc/switch.json", "stall"),)),
    (
        Planted("installing.py", "Restart=on-abnormal\n", "", ""),
        "restarts, small",
        (Event(1, "one sync /var/lib/fleetc/running", "cut"), DIES_AGAIN),
    ),
    (
        Planted("switch.py", "(*options, *KEPT_UP)", "options", ""),
        "restarts, small",
        (Event(1, "- one answers ann: activate", "lost"), DIES_AGAIN),
    ),
    (
        Planted("switch.py", "    if problems:\n        why", "    disarm(switch)\n    if problems:\n        why", ""),
        "restarts, small",
        (
            Event(1, "- one answers ann: activate", "lost"),
            Event(17, "one rename /var/lib/fleetc/switch.json", "kill"),
        ),
    ),
]
"""What was found in the code of a release: the fault that brings it back, and the events that show it."""


@pytest.mark.parametrize("number", range(len(FOUND)))
def test_what_was_found_once(number: int) -> None:
    fault, name, events = FOUND[number]
    assert not replayed(SCENARIOS[name], events)
    assert found(fault, SCENARIOS[name], events).violations


def planted_is_found(fault: Planted) -> None:
    result = found(fault, SCENARIOS[fault.scenario])
    assert result.violations, f"nothing is wrong in {result.runs} runs without: {fault.old}"


@pytest.mark.parametrize("number", FIRST_FAULTS)
def test_planted_fault_is_found(number: int) -> None:
    planted_is_found(PLANTED[number])


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PLANTED)))
def test_each_planted_fault_is_found(number: int) -> None:
    planted_is_found(PLANTED[number])


def test_exploration_is_the_same_each_time() -> None:
    first, second = (Explorer(SMALL[0], 1, every=25).explore() for _ in range(2))
    assert (first.states, first.quiet, first.runs) == (second.states, second.quiet, second.runs)


def test_messages_are_those_of_the_playbook() -> None:
    """The simulated Ansible has the requests of the role, in their order."""
    tasks = yaml.safe_load((ROOT / "playbooks/roles/fleet_host/tasks/main.yml").read_text())
    asked = [name for task in tasks if (name := request_of(task))]
    source = (ROOT / "tests/explore/fleet.py").read_text().partition("def site(")[2].partition("def left(")[0]
    marks = {"beginning": "begin", "staging": "stage", "retiring": "retire"}
    calls = re.findall(r'self\.(beginning|staging|retiring)|self\.own\(\s*(?:host|one\["host"\]),\s*"?(\w+)', source)
    simulated = [marks.get(name, name) for names in calls for name in names if name]
    assert simulated == asked
    names = [task["name"].partition(" #")[0] for task in tasks]
    for constant in ("STAGE", "EXPECT", "RETIRE", "ACTIVATE", "LEFT", "END"):
        assert vars(fleet)[constant] in names


def request_of(task: dict[str, object]) -> str:
    """What a task of the role asks of the program; "" where it asks nothing."""
    if "ansible.builtin.import_tasks" in task:
        return "begin"
    given = task.get("fleet_host")
    text = str(given["request"]) if isinstance(given, dict) else ""
    for word in ("stage", "expect", "retire", "left"):
        if f"'{word}'" in text:
            return word
    return "activate" if "activation" in text else "end" if "fleet_host_end" in text else ""
