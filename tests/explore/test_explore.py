"""Rollouts in the simulated world: no fault at any moment breaks a promise, and planted faults are found."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
import yaml

from tests.explore import fleet
from tests.explore.explorer import ALL, DEATHS, Event, Explorer, Scenario, replayed, shrunk
from tests.explore.faults import PLANTED, Planted, planted
from tests.explore.specs import LARGE, SMALL
from tests.support import ROOT

SCENARIOS = {scenario.name: scenario for scenario in (*SMALL, *LARGE)}

FIRST_FAULTS = (0, 3, 4, 12)
"""Those of PLANTED that the fast tests plant."""

IN_PAIRS = (
    *(scenario.name for scenario in SMALL),
    *("restarts", "both at once, one is ill", "is out of service", "is retired", "leaves the fleet", "is restarted"),
    "goes back",
)
"""The rollouts that are explored with two faults."""


def explored(scenario: Scenario, depth: int = 1, second: Sequence[str] = ALL, every: int = 1) -> None:
    """Explore a rollout; a violation is shown with the fewest events."""
    result = Explorer(scenario, depth, second, every).explore(limit=3)
    for violation in result.violations:
        events = shrunk(scenario, violation.events) if violation.events else ()
        pytest.fail(f"{scenario.name}: {violation}\nreplayed(SCENARIOS[{scenario.name!r}], {list(events)!r})")
    print(f"{scenario.name}: {result.runs} runs, {result.states} states, {result.quiet} times quiet")


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
@pytest.mark.parametrize("name", IN_PAIRS)
def test_each_fault_and_then_each_death(name: str) -> None:
    """Processes that die, hosts that lose their power, and messages that get lost, after any other fault."""
    explored(SCENARIOS[name], 2, DEATHS)


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
    with planted(fault):
        assert replayed(SCENARIOS[name], events)


@pytest.mark.parametrize(
    "number", [pytest.param(one, marks=() if one in FIRST_FAULTS else pytest.mark.slow) for one in range(len(PLANTED))]
)
def test_planted_fault_is_found(number: int) -> None:
    fault = PLANTED[number]
    with planted(fault):
        result = Explorer(SCENARIOS[fault.scenario]).explore(limit=1)
    assert result.violations, f"nothing is wrong in {result.runs} runs without: {fault.old}"


def test_exploration_is_the_same_each_time() -> None:
    first, second = (Explorer(SMALL[0], every=25).explore() for _ in range(2))
    assert first == second


def test_messages_are_those_of_the_playbook() -> None:
    """The simulated Ansible has the requests of the role, in their order."""
    tasks = yaml.safe_load((ROOT / "playbooks/roles/fleet_host/tasks/main.yml").read_text())
    asked = [name for task in tasks if (name := request_of(task))]
    source = (ROOT / "tests/explore/fleet.py").read_text().partition("def site(")[2].partition("# One task")[0]
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
