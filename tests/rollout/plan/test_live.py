"""A plan and a review of one change agree about which processes take it while they run, and which restart."""

from __future__ import annotations

import pytest

from fleetc.emit.host_program import HOST_STEPS
from fleetc.planner.states import recorded_states, steps_between
from fleetc.review.data import Review
from fleetc.review.limits import breaches, parse_limits
from fleetc.review.reports import wording
from tests.review.labelled import EDITS, Edited
from tests.review.support import example, review
from tests.support import compile_text, shipped

CHOSEN = [edit for edit in EDITS if edit.fleet in ("dual-onchain", "two-regions") and "restart" in edit.classes][::4]
CHOSEN += [edit for edit in EDITS if "live" in edit.classes]


def planned(before: str, after: str) -> dict[str, set[str]]:
    """What a plan from a rolled-out tree does to the nodes that it had before, by action."""
    old, new = compile_text(before), compile_text(after)
    assert old.tree is not None and new.tree is not None and new.blueprint is not None
    was, will = recorded_states(old.tree), recorded_states(new.tree)
    found: dict[str, set[str]] = {}
    for host in new.blueprint.hosts:
        if host.name in was:
            program = shipped()[1][HOST_STEPS]
            actions = steps_between(program, was[host.name], will[host.name], new.blueprint.live)
            for action in actions:
                found.setdefault(action.do, set()).add(action.node)
    return found


def live_in(found: Review) -> set[str]:
    """The nodes of the changes that are live."""
    changes = [change for change in found.changes if any(effect.impact == "live" for effect in change.effects)]
    return {target.node for change in changes for target in change.targets if target.node}


@pytest.mark.parametrize("edit", CHOSEN, ids=lambda edit: edit.name)
def test_review_and_plan_say_live_of_the_same_processes(edit: Edited) -> None:
    before = example(edit.fleet)
    after, _, _ = edit.apply(before)
    told, actions = review(before, after), planned(before, after)
    assert live_in(told) == {target.node for target in told.live} == actions.get("live", set())
    assert not {target.node for target, _ in told.restarts} & actions.get("live", set())
    assert ("live" in edit.classes) == bool(actions.get("live"))


@pytest.mark.parametrize(
    ("live", "classes"), [("try", {"price", "live"}), ("never", {"price", "cold-start", "restart"})]
)
def test_the_spec_decides(live: str, classes: set[str]) -> None:
    before = example("dual-onchain") + f'\n[rollout]\nlive = "{live}"\n'
    after = before.replace('price = "1200 wei / pixel"', 'price = "1300 wei / pixel"')
    found = review(before, after)
    assert {effect.impact for change in found.changes for effect in change.effects} == classes
    if live == "try":
        texts = [effect.text for change in found.changes for effect in change.effects if effect.impact == "live"]
        assert texts == ["live, no session drops: orch takes it over at once"]
        assert (found.restarts, found.cold_starts) == ((), ())
        assert wording.restarts(found) == "no process restarts; 1 process takes what changes while running"
        assert [str(breach) for breach in breaches(found, parse_limits("live=none"))] == ["live=none is broken"]
        assert not list(breaches(found, parse_limits("live=1,restart=none")))
