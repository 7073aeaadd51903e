"""Why a rollout may not begin: something may still run where nobody can ask."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from fleetc.blueprint.blueprint import HostBlueprint
from fleetc.blueprint.shards import Shard
from fleetc.places.origin import Chosen
from fleetc.places.origin import given as given_in
from fleetc.rollout.hosts.begun import Begun, begun_of
from fleetc.rollout.hosts.events import RunResult
from fleetc.rollout.hosts.gate import BEGIN, LET_GO, HostOutcome, Result
from fleetc.rollout.hosts.journal import to_read
from fleetc.rollout.hosts.ordering import keep_away, order_of, stopped
from fleetc.rollout.hosts.rolling import NOTHING_STATED, Goal, Rollout, Stated, claimed
from fleetc.rollout.hosts.runner import Project, RunOptions
from fleetc.rollout.journal.history import Given, Login
from fleetc.rollout.moves import Move
from tests.support import compiled_example

REWARD = "calls reward for 0x1"
TREE, BLUEPRINT = (compiled_example("two-regions").tree, compiled_example("two-regions").blueprint)
assert TREE is not None and BLUEPRINT is not None
HOSTS = BLUEPRINT.hosts
ONE, TWO = HOSTS[:2]
NO_GOAL = Goal()
ELSEWHERE = Login("198.51.100.99", 22, "root", True)


def begun(host: str, runs: dict[str, Any], wants: dict[str, Any], known_as: str = "", answered: bool = True) -> Begun:
    outcome = HostOutcome(host, "old")
    return Begun(host, answered, True, outcome, (), "", runs, wants, None, (), known_as)


def refused(
    known: dict[str, Given],
    *hosts: Begun,
    stated: Stated = NOTHING_STATED,
    left: tuple[str, ...] = (),
    elsewhere: dict[str, Any] | None = None,
    goal: Goal = NO_GOAL,
) -> str:
    assert TREE is not None and BLUEPRINT is not None
    journal = to_read(Path("/nonexistent"), "demo")
    journal.history.hosts = known
    project = cast(Project, None)
    options = RunOptions()
    rollout = Rollout(TREE, project, BLUEPRINT, options, {}, lambda _: None, goal, journal, set())
    rollout.left = {name: known[name] for name in left}
    rollout.elsewhere = elsewhere or {}
    return order_of(rollout, {host.host: host for host in hosts}, stated)[2]


def given(place: Login, **nodes: tuple[str, ...]) -> Given:
    return Given(place, "a" * 64, nodes)


@pytest.mark.parametrize(("node", "does"), [("gate", ()), ("other", (REWARD,))])
def test_what_a_silent_host_may_still_run(node: str, does: tuple[str, ...]) -> None:
    known = {"gone": given(ELSEWHERE, gate=(REWARD,))}
    coming = begun(ONE.name, {}, {node: does})
    assert "which --limit leaves out" in refused(known, coming)
    blocked = refused(known, coming, begun("gone", {}, {}, answered=False), left=("gone",))
    assert "which cannot be asked" in blocked and "--assume-dead gone" in blocked
    assert refused(known, coming, stated=Stated(dead=("gone",))) == ""
    assert refused(known, coming, begun("gone", {}, {}), left=("gone",)) == ""


def test_what_runs_here_already_does_not_come() -> None:
    known = {"gone": given(ELSEWHERE, gate=(REWARD,))}
    assert refused(known, begun(ONE.name, {"gate": (REWARD,)}, {"gate": (REWARD,)})) == ""


def test_rollout_goes_on_without_a_silent_host_that_is_out_of_service() -> None:
    """It must not if what the journal last knew there is to run elsewhere, as a reward caller is."""
    assert TREE is not None and BLUEPRINT is not None
    why = Chosen("until 2027-01-31: new power supply", given_in("hosts", ONE.name, "out"))
    out = replace(ONE, out=why, services=tuple(replace(service, out=why) for service in ONE.services))
    silent = begun(ONE.name, {}, {}, answered=False)
    silent = silent._replace(outcome=HostOutcome(ONE.name, "old", "could not be reached: no route"))
    journal = to_read(Path("/nonexistent"), "demo")

    def away(answer: Begun, *hosts: HostBlueprint) -> str:
        fleet = replace(BLUEPRINT, hosts=hosts)
        options, project = RunOptions(), cast(Project, None)
        return Rollout(TREE, project, fleet, options, {}, lambda _: None, NO_GOAL, journal, set()).away(answer)

    assert away(silent, out, TWO) == "out of service until 2027-01-31: new power supply; could not be reached: no route"
    assert away(silent, ONE, TWO) == "", "it is in service"
    assert away(silent._replace(answered=True), out, TWO) == ""
    refused_it = silent._replace(outcome=HostOutcome(ONE.name, "old", "it is in quarantine"))
    assert away(refused_it, out, TWO) == "", "it answers, so somebody has to look"
    (own, *_), (other, *_) = ONE.services, TWO.services
    journal.history.hosts = {ONE.name: given(Login(ONE.address, ONE.ssh_port, "root", True), **{own.name: (REWARD,)})}
    assert f"{own.name} may start there when it boots" in away(silent, out, TWO)
    assert away(silent, out, replace(TWO, services=(replace(other, exclusive=(REWARD,)),))) == ""
    assert away(silent, out, replace(TWO, services=(own,))) == ""


def test_new_machine_under_an_old_name() -> None:
    """The old machine may go on. One that only moved to another address says that it is the host."""
    known = {ONE.name: given(ELSEWHERE, gate=())}
    fresh = begun(ONE.name, {}, {"gate": ()})
    said = refused(known, fresh)
    assert f"{ONE.name} is a new machine, and gate may still run on the one before, at 198.51.100.99" in said
    assert refused(known, fresh, stated=Stated(dead=("198.51.100.99",))) == ""
    assert refused(known, fresh._replace(known_as=ONE.name)) == ""
    here = Login(ONE.address, ONE.ssh_port, "root", True)
    assert refused({ONE.name: given(here, gate=())}, fresh) == ""


def test_two_hosts_that_want_the_same() -> None:
    both = (begun(ONE.name, {}, {"gate": ()}), begun(TWO.name, {}, {"gate": ()}))
    assert "would both have what only one may have: gate" in refused({}, *both)
    rewards = (begun(ONE.name, {}, {"a": (REWARD,)}), begun(TWO.name, {}, {"b": (REWARD,)}))
    assert f"would both have what only one may have: {REWARD}" in refused({}, *rewards)


def test_handover_of_a_host_that_does_not_change() -> None:
    stays = begun(ONE.name, {"a": (REWARD,)}, {"a": ()})._replace(needed=False)
    assert "nothing that is rolled out would end that" in refused({}, stays, begun(TWO.name, {}, {"b": (REWARD,)}))


@pytest.mark.parametrize(("result", "stays"), [("unknown", True), ("quarantined", True), ("reverted", False)])
def test_node_whose_new_host_is_unknown_is_stopped(result: Result, stays: bool) -> None:
    moves = (Move("gate", "one", "two"), Move("orch", "one", "two"))
    told = stopped(moves, {"one": HostOutcome("one", "old"), "two": HostOutcome("two", result, "cut off")})
    assert bool(told) == stays
    if stays:
        assert told["two"].reason.startswith("cut off; gate is stopped on one, because it may run here; orch is")
        assert told["one"].result == "unknown" and "gate may be stopped here" in told["one"].reason


@pytest.mark.parametrize(("result", "until", "stays"), [
    ("unknown", "", True), ("unknown", "2026-01-31T09:00:00Z", False), ("quarantined", "", True), ("new", "", False),
])  # fmt: skip
def test_old_host_is_told_to_stay_away_unless_the_new_one_says_that_it_goes_back(
    result: Result, until: str, stays: bool
) -> None:
    asked: list[Any] = []

    class Told:
        """A rollout whose old host does what it is asked. A stand-in for runs of Ansible."""

        def run(self, _playbook: str, hosts: list[str], fleet_host_stays: dict[str, list[str]]) -> RunResult:
            asked.append((hosts, fleet_host_stays))
            return RunResult("successful", 0, {}, answers={"one": {LET_GO: {"format": 1, "ok": True}}})

    hosts = (HostOutcome("one", "unknown"), HostOutcome("two", result))
    moves = [Move("gate", "one", "two")]
    assert keep_away(cast(Rollout, Told()), moves, hosts, {"two": until}) == (["one"] if stays else [])
    assert asked == ([(["one"], {"one": ["gate"]})] if stays else [])


class Asked:
    """A rollout whose hosts say one thing after another. A stand-in for runs of Ansible."""

    def __init__(self, *answers: dict[str, Begun]) -> None:
        self.answers, self.asked = list(answers), list[list[str]]()
        self.interrupted = threading.Event()

    def ask(self, hosts: Sequence[str]) -> tuple[dict[str, Begun], RunResult]:
        self.asked.append(list(hosts))
        told = self.answers.pop(0)
        return {host: told[host] for host in hosts}, RunResult("successful", 0, {})


def test_hosts_with_nothing_to_do_are_asked_again_where_something_arrives() -> None:
    """Another rollout may bring the same node to one of them: neither sees the claim of the other at first."""
    comes = begun("one", {}, {"gate": ()})
    quiet = begun("two", {}, {})._replace(needed=False)
    taken = quiet._replace(answered=False, claimed_by={"who": "ci"})
    rollout = Asked({"one": comes, "two": quiet}, {"two": taken})
    found, _ = claimed(cast(Rollout, rollout), ["one", "two"])
    assert rollout.asked == [["one", "two"], ["two"]]
    assert not found["two"].answered
    stays = Asked({"one": begun("one", {"gate": ()}, {"gate": ()}), "two": quiet})
    claimed(cast(Rollout, stays), ["one", "two"])
    assert stays.asked == [["one", "two"]]


RUNS = {"node": "gate", "digest": "d" * 64, "runtime": "systemd", "running": True}


@pytest.mark.parametrize(
    ("state", "settled"),
    [
        ({}, True),
        ({"processes": [RUNS]}, True),
        ({"switch": {"id": "1"}}, False),
        ({"quarantine": "it could not go back"}, False),
        ({"processes": [RUNS, {**RUNS, "running": None}]}, False),
        ({"processes": [{**RUNS, "running": False}]}, False),
        ({"release": "b" * 64}, False),
        *(
            ({"processes": [{**RUNS, kind: ["words"]}]}, False)
            for kind in ("drift", "unlinked", "was_set", "ill", "unanswered")
        ),
    ],
    ids=str,
)
def test_canary_is_settled_once_all_of_it_runs_and_nothing_is_left_to_end(state: dict[str, Any], settled: bool) -> None:
    answer = {BEGIN: {"format": 1, "ok": True, "state": {"release": "a" * 64, "processes": [], **state}}}
    (one,) = begun_of(["h"], RunResult("successful", 0, {}, answers={"h": answer})).values()
    assert (one.against("a" * 64) == ()) == settled


class Answered(Rollout):
    """A rollout whose hosts answer at once. A stand-in for a run of Ansible."""

    def run(self, *_: Any, **__: Any) -> RunResult:
        told = {"node": "gate", "exclusive": [REWARD]}
        answer = {BEGIN: {"format": 1, "ok": True, "needed": True, "state": {}, "wants": [told]}}
        return RunResult("successful", 0, {}, answers={HOME.name: answer})


def test_what_a_host_says_that_it_wants_moves_nothing() -> None:
    """Else one host could have the nodes of another stopped. Only the host knows its kept releases."""
    assert TREE is not None and BLUEPRINT is not None
    journal, options = to_read(Path("/nonexistent"), "demo"), RunOptions()
    for goal, wants in (
        (Goal(), {one.name: one.exclusive for one in HOME.services}),
        (Goal("rollback", {HOME.name: "a" * 64}), {"gate": (REWARD,)}),
    ):
        rollout = Answered(TREE, cast(Project, None), BLUEPRINT, options, {}, lambda _: None, goal, journal, set())
        assert rollout.ask([HOME.name])[0][HOME.name].wants == wants


def test_host_that_a_limit_leaves_out_says_what_it_runs() -> None:
    """Whatever the journal says; it may be empty, as on a new machine, or behind."""
    coming = begun(ONE.name, {}, {"gate": ()})
    assert "gate was last on two, which --limit leaves out" in refused({}, coming, elsewhere={"two": {"gate": ()}})
    assert refused({"two": given(ELSEWHERE, gate=())}, coming, elsewhere={"two": {}}) == ""
    back = Goal("rollback", {ONE.name: "a" * 64})
    assert "which this rollback does not take back" in refused({}, coming, elsewhere={"two": {"gate": ()}}, goal=back)


HOME = next(host for host in HOSTS if host.services)
NODE = HOME.services[0].name
AWAY = next(host.name for host in HOSTS if host is not HOME)


def test_node_that_would_only_end_is_not_torn_from_its_new_host() -> None:
    """Its new host is left out: deployed alone, the old one would stop it and nobody would start it."""
    leaving = begun(AWAY, {NODE: ()}, {})
    assert f"{AWAY} would stop what {HOME.name} goes on with ({NODE}), which --limit" in refused({}, leaving)
    said = refused({}, leaving, goal=Goal(shard=Shard(2, 3)))
    assert said.endswith("and 2/3 has only one of them: deploy both with --limit, or without --shard")
    arriving = begun(HOME.name, {}, {NODE: ()})
    assert refused({}, leaving, arriving) == ""
    assert refused({}, leaving, stated=Stated(dead=(HOME.name,))) == ""
    assert refused({}, begun(AWAY, {"nobody-has-it": ()}, {})) == ""
    assert refused({}, leaving, goal=Goal("rollback", {AWAY: "a" * 64})) == ""
