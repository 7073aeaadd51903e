"""What a plan means for prices, where hosts say what they run: trees in git tell, and what no tree tells is unknown.

The git, the trees and the comparison are real; only what hosts say is made here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fleetc.cli.shared.known_trees import KnownTrees
from fleetc.disk import files
from fleetc.pipeline import compile_spec
from fleetc.planner.data import OBSERVED, UNKNOWN, HostState
from fleetc.planner.states import recorded_states
from fleetc.review.sides import of_compiled
from fleetc.rollout.hosts import plans
from fleetc.rollout.plan import summary
from fleetc.rollout.plan.data import Baseline, SealedPlan
from fleetc.rollout.plan.meaning import meaning_of
from fleetc.settings import Settings
from tests.review.git_support import commit, git_in
from tests.rollout.plan.support import DAY, NOW, Workplace
from tests.rollout.plan.test_refusals import edit
from tests.support import shipped

pytestmark = pytest.mark.usefixtures("processes")

PRICE = "price: asks 1250 wei / pixel instead of 1200 wei / pixel (+4.2 percent)"
UNKNOWN_WORDS = "what this changes for prices, sessions and ports is not known"


def running(place: Workplace) -> dict[str, HostState]:
    """What hosts say that run the tree which is on the disk now."""
    states = recorded_states(files.read_tree(place.tree))
    return {host: replace(state, known=OBSERVED) for host, state in states.items()}


def planned(place: Workplace, states: dict[str, HostState]) -> SealedPlan:
    """The plan for hosts in these states, as `fleetc plan --observe` makes it."""
    inputs = place.inputs()
    told = tuple(states[host.name] for host in inputs.hosts)
    compiled = compile_spec(place.sources(), *shipped())
    trees = KnownTrees(place.spec, Settings(), list(states))
    meaning = meaning_of(told, trees, of_compiled("fleet.toml", compiled), trees.why)
    return plans.make_plan(inputs, Baseline("", told), (), NOW, DAY, meaning)


def lines(plan: SealedPlan) -> str:
    return "\n".join(summary.lines(plan, "", ""))


@pytest.fixture
def rolled_out(place: Workplace) -> dict[str, HostState]:
    """What hosts run that got the tree of the first commit; that of now, in the second, has another price."""
    states = running(place)
    git_in(place.directory, "init", "--quiet", "--initial-branch=main")
    commit(place.directory, "rolled out")
    edit(place.spec, 'price = "1200 wei / pixel"', 'price = "1250 wei / pixel"')
    place.compile()
    commit(place.directory, "a higher price")
    return states


def test_the_tree_of_an_earlier_commit_tells_what_a_price_change_means(
    place: Workplace, rolled_out: dict[str, HostState]
) -> None:
    plan = planned(place, rolled_out)
    (compared,) = plan.compared
    first = git_in(place.directory, "rev-parse", "--short=12", "HEAD~1")
    assert compared.name.startswith(f"rendered/ of commit {first} of ")
    assert set(compared.hosts) == set(rolled_out)
    told = lines(plan)
    assert PRICE in told and UNKNOWN_WORDS not in told
    place.store(plan)
    assert place.codes() == [], "the plan is the one that is made again"


def test_a_tree_that_nobody_committed_is_unknown_and_said_so(place: Workplace) -> None:
    states = running(place)
    edit(place.spec, 'price = "1200 wei / pixel"', 'price = "1250 wei / pixel"')
    place.compile()
    told = lines(planned(place, states))
    assert f"{UNKNOWN_WORDS} on eu-gpu-1, because the release {states['eu-gpu-1'].release[:12]} that runs" in told
    assert "rendered/ is in no commit, so no earlier tree is known: commit it before each rollout" in told
    assert "price:" not in told
    assert "effects  compared with the tree of this plan on" in told, "the others run it already"


def test_a_release_that_is_in_no_commit_is_unknown(place: Workplace, rolled_out: dict[str, HostState]) -> None:
    elsewhere = {**rolled_out, "eu-gpu-1": replace(rolled_out["eu-gpu-1"], release="e" * 64)}
    told = lines(planned(place, elsewhere))
    assert "on eu-gpu-1, because the release eeeeeeeeeeee that runs there is in no tree known here; the last 2" in told
    assert "price:" not in told


def test_a_host_that_does_not_answer_is_unknown(place: Workplace, rolled_out: dict[str, HostState]) -> None:
    silent = {**rolled_out, "eu-gpu-1": HostState("eu-gpu-1", UNKNOWN, note="could not be reached")}
    told = lines(planned(place, silent))
    assert f"{UNKNOWN_WORDS} on eu-gpu-1, because nobody knows what runs there (could not be reached)" in told


def test_a_committed_tree_whose_files_are_not_its_release_tells_nothing(
    place: Workplace, rolled_out: dict[str, HostState]
) -> None:
    """Else a commit that only claims to be what hosts run would hide what a change means."""
    git_in(place.directory, "checkout", "--quiet", "HEAD~1", "--", "rendered")
    forged = place.tree / "hosts/eu-gpu-1/eu-video-1/launch.flags"
    forged.write_text(forged.read_text().replace("1200", "1249"))
    git_in(place.directory, "checkout", "--quiet", "--orphan", "forged")
    commit(place.directory, "it claims to be what hosts run")
    git_in(place.directory, "checkout", "--quiet", "main", "--", "rendered")
    git_in(place.directory, "branch", "--quiet", "-D", "main")
    told = lines(planned(place, rolled_out))
    assert f"{UNKNOWN_WORDS} on eu-gpu-1" in told
    assert "price:" not in told


def test_hosts_of_two_releases_are_each_compared_with_their_own(
    place: Workplace, rolled_out: dict[str, HostState]
) -> None:
    """A rollout that broke off leaves such a fleet."""
    edit(place.spec, "max_sessions = 200", "max_sessions = 190")
    place.compile()
    commit(place.directory, "fewer sessions")
    mixed = {**running(place), "eu-gpu-1": rolled_out["eu-gpu-1"]}
    edit(place.spec, 'price = "1250 wei / pixel"', 'price = "1300 wei / pixel"')
    place.compile()
    told = lines(planned(place, mixed))
    assert "price: asks 1300 wei / pixel instead of 1200 wei / pixel (+8.3 percent)" in told
    assert told.count("effects  compared with rendered/ of commit") == 2


def test_a_process_that_was_started_from_other_files_is_not_compared(
    place: Workplace, rolled_out: dict[str, HostState]
) -> None:
    host = rolled_out["eu-gpu-1"]
    other = replace(host, processes=tuple(replace(process, digest="d" * 64) for process in host.processes))
    told = lines(planned(place, {**rolled_out, "eu-gpu-1": other}))
    assert f"{UNKNOWN_WORDS} on eu-gpu-1" in told


def test_a_bare_host_is_compared_with_nothing(place: Workplace, rolled_out: dict[str, HostState]) -> None:
    told = lines(planned(place, {**rolled_out, "eu-gpu-1": HostState("eu-gpu-1", OBSERVED)}))
    assert "effects  compared with nothing: no release is there yet on eu-gpu-1" in told
    assert UNKNOWN_WORDS not in told


def test_a_clone_without_its_history_says_what_it_lacks(
    place: Workplace, rolled_out: dict[str, HostState], tmp_path: Path
) -> None:
    git_in(tmp_path, "clone", "--quiet", "--depth=1", f"file://{place.directory}", "shallow")
    told = lines(planned(Workplace(tmp_path / "shallow"), rolled_out))
    assert "the only commit of rendered/ was looked at; this clone has no more, so fetch all of its history" in told
