"""Sealed plans of hosts with an avatar stack: each unit is foretold as the role treats it."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fleetc.blueprint.blueprint import Blueprint
from fleetc.cli.shared.baseline import baseline
from fleetc.disk import files
from fleetc.emit.tree import Tree
from fleetc.pipeline import compile_spec
from fleetc.planner.data import OBSERVED, HostState, ProcessState
from fleetc.planner.stacks import HOST, is_unit
from fleetc.planner.states import in_order, recorded_states
from fleetc.review.compare import compare
from fleetc.review.sides import of_compiled
from fleetc.rollout.hosts import plans
from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.gate import HostOutcome, Result
from fleetc.rollout.hosts.observe import HostSeen
from fleetc.rollout.hosts.rolling import Goal
from fleetc.rollout.plan.data import NewestPlan, NodeRelease, SealedPlan
from fleetc.rollout.plan.make import effects_of, meaning_in
from fleetc.settings import Settings
from tests.rollout.plan.support import NOW, Workplace
from tests.rollout.plan.test_refusals import edit
from tests.support import ROOT, shipped

pytestmark = pytest.mark.usefixtures("processes")

SPEC = ROOT / "inventories" / "avatar-stage" / "fleet.toml"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The stage, compiled; no test changes it."""
    made = Workplace(tmp_path_factory.mktemp("stage"))
    made.fill(SPEC)
    return made


@pytest.fixture
def stage(compiled: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A copy of the stage as the working directory, and `before`, the tree that was rolled out last."""
    shutil.copytree(compiled.directory, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    seconds = itertools.count()
    monkeypatch.setattr(plans, "clock", lambda: NOW + timedelta(seconds=next(seconds)))
    place = Workplace(tmp_path / "work")
    shutil.copytree(place.tree, "before")
    return place


def test_secrets_and_release_of_a_stack_are_in_the_plan(stage: Workplace) -> None:
    done = stage.run("plan")
    assert done.code == 0, done.err
    assert "releases go-livepeer v0.9.1, avatar stack v1.3.6\n" in done.out
    assert "vault turn_password, vault turn_user\n" in done.out
    made = stage.made()
    assert made.releases[-1] == NodeRelease("avatar stack", "v1.3.6")
    assert {s.variable for s in made.secrets if s.node == "avatar"} == {"TURN_PASS", "TURN_USER"}


FRONT = '  { avatar = "noor", gpu = 1 },\n'
TURN = '[avatars.front.turn]\nuser = { vault = "turn_user" }\npassword = { vault = "turn_password" }\n'
TURNED = "the settings of TURN change, which signaling and recorder read"


def restarts(*units: str, why: str = "its files change") -> list[str]:
    return [f"restart avatar/{unit}: {why}" for unit in units]


def starts(unit: str) -> str:
    return f"start avatar/{unit}: it is new here"


EDITS: dict[str, tuple[str, str, list[str]]] = {
    "a slot more": (
        FRONT,
        FRONT + '  { avatar = "pia", gpu = 1 },\n',
        ["copy", *restarts("firewall", "host"), starts("slot-02")],
    ),
    "a slot less": (
        FRONT,
        "",
        ["copy", "retire avatar/slot-01: vtuber-noor has no place here any more", *restarts("firewall", "host")],
    ),
    "another avatar": (
        'avatar = "noor"',
        'avatar = "pia"',
        ["copy", "retire avatar/slot-01: vtuber-noor gives way to vtuber-pia", *restarts("host"), starts("slot-01")],
    ),
    "an avatar that moves": (
        'avatar = "noor"',
        'avatar = "noor", slot = 4',
        [
            "copy",
            "retire avatar/slot-01: vtuber-noor moves to avatar/slot-04",
            *restarts("firewall", "host"),
            starts("slot-04"),
        ],
    ),
    "other callers": (
        "203.0.113.64/29",
        "203.0.113.64/28",
        ["copy", *restarts("firewall", "host", "slot-00", "slot-01")],
    ),
    "another realm of TURN": (
        TURN,
        TURN + 'realm = "stage"\n',
        ["copy", *restarts("turn"), *restarts("slot-00", "slot-01", why=TURNED)],
    ),
    "a secret of TURN elsewhere": (
        'vault = "turn_password"',
        'vault = "turn_other"',
        [f"ensure avatar/{unit}: its secrets are read elsewhere" for unit in ("turn", "slot-00", "slot-01")],
    ),
    "no TURN": (
        TURN,
        "",
        [
            "copy",
            *restarts("firewall"),
            "retire avatar/turn: it has no place here any more",
            *restarts("host", "slot-00", "slot-01"),
        ],
    ),
}


def changed(stage: Workplace, name: str) -> None:
    edit(stage.spec, *EDITS[name][:2])
    if name == "no TURN":  # its image is pinned, and nothing else would use that
        text = stage.spec.read_text(encoding="utf-8")
        stage.spec.write_text(re.sub(r'^turn = "[^"]*"\n', "", text, flags=re.MULTILINE), encoding="utf-8")
    stage.compile()


def steps(made: SealedPlan, host: str) -> list[str]:
    """What is not kept on a host."""
    (actions,) = [step.actions for step in made.steps if step.host == host]
    told = (f"{action.do} {action.node}".strip() + f": {action.reason}" for action in actions if action.do != "keep")
    return [text.removesuffix(": ") for text in told]


@pytest.mark.parametrize("name", EDITS)
def test_units_of_a_stack_are_foretold(name: str, stage: Workplace) -> None:
    """With a step for each unit that the review names, so that what it says of a unit is in the plan."""
    changed(stage, name)
    done = stage.run("plan", "--against", "before", "-o", "plan.json")
    assert done.code == 0, done.err
    made = stage.read()
    assert steps(made, "stage-1") == EDITS[name][2]
    assert steps(made, "stage-2") == []
    assert stage.codes() == []
    before = baseline("before", stage.spec, Settings())
    after = of_compiled("after", compile_spec(stage.sources(), *shipped()))
    told = {place for place, found in meaning_in(made).effects.items() if found}
    assert told == {place for place, found in effects_of(compare(before, after)).items() if found}


def test_what_people_read_of_a_stack(stage: Workplace) -> None:
    changed(stage, "a secret of TURN elsewhere")
    done = stage.run("plan", "--against", "before")
    assert "make sure that avatar/turn runs from " in done.out
    assert ": its secrets are read elsewhere; whether it restarts is unknown\n" in done.out
    assert "keep orch, avatar/firewall, avatar/host\n" in done.out
    assert "processes: 3 to make sure of, 11 to keep\n" in done.out


# --- hosts that answer ------------------------------------------------------------------------------


class Hosts:
    """A stand-in for hosts that say what they run, and for rollouts to them.

    `newest` is the plan that they were given last.
    """

    def __init__(self, states: dict[str, HostState]) -> None:
        self.states = states
        self.rollouts = 0
        self.newest: dict[str, NewestPlan] = {}

    def observe(self, _tree: Tree, hosts: Sequence[str], *_: object) -> dict[str, HostSeen]:
        return {host: HostSeen(self.states[host], self.newest.get(host)) for host in hosts}

    def deploy(
        self, tree: Tree, plan: Blueprint, _settings: Settings, limit: tuple[str, ...], check: bool, *rest: object
    ) -> Outcome:
        """A rollout that gets to its end."""
        _, _, goal, _ = rest
        assert isinstance(goal, Goal) and goal.sealed and not check
        mark = goal.sealed
        self.newest |= {host.name: mark for host in plan.hosts if not limit or host.name in limit}
        self.rollouts += 1
        self.states = rolled_out(tree)
        return self.outcome("new")

    def record(
        self, _tree: Tree, _plan: Blueprint, _settings: Settings, hosts: tuple[str, ...], *rest: object
    ) -> Outcome:
        """Hosts write down a plan."""
        _, mark = rest
        assert isinstance(mark, NewestPlan)
        self.newest |= dict.fromkeys(hosts, mark)
        return self.outcome("unchanged")

    def outcome(self, result: Result) -> Outcome:
        """The same result for every host."""
        return Outcome(tuple(HostOutcome(host, result) for host in self.states), (), check=False)

    def fail(
        self, tree: Tree, plan: Blueprint, settings: Settings, limit: tuple[str, ...], check: bool, *rest: object
    ) -> Outcome:
        """A rollout that links the release, starts the nodes, and breaks off while it starts the stack of a host."""
        before = self.states
        self.deploy(tree, plan, settings, limit, check, *rest)
        for host, state in self.states.items():
            kept = [process for process in before[host].processes if is_unit(process) and process.node != HOST]
            nodes = [process for process in state.processes if not is_unit(process)]
            cut = ProcessState(HOST, "", "docker", True)
            self.states[host] = replace(state, processes=in_order([*nodes, *kept, cut]))
        return self.outcome("unknown")


def rolled_out(tree: Tree) -> dict[str, HostState]:
    """What hosts say once a tree has been rolled out to its end."""
    found = {}
    for host, state in recorded_states(tree).items():
        processes = tuple(replace(process, running=True, secrets=None) for process in state.processes)
        found[host] = replace(state, known=OBSERVED, processes=processes)
    return found


@pytest.fixture
def hosts(stage: Workplace, monkeypatch: pytest.MonkeyPatch) -> Hosts:
    """The hosts of the stage, on which its tree was rolled out."""
    made = Hosts(rolled_out(files.read_tree(stage.tree)))
    monkeypatch.setattr(plans, "observe", made.observe)
    monkeypatch.setattr("fleetc.rollout.hosts.deploy.deploy_tree", made.deploy)
    monkeypatch.setattr("fleetc.rollout.hosts.deploy.record_plan", made.record)
    return made


def test_rollout_that_broke_off_in_the_stack_is_not_at_its_end(
    stage: Workplace, hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(stage, "a slot more")
    assert stage.run("plan", "--observe", "-o", "plan.json").code == 0
    with monkeypatch.context() as patch:
        patch.setattr("fleetc.rollout.hosts.deploy.deploy_tree", hosts.fail)
        assert stage.run("deploy", "--plan", "plan.json").code == 5
    again = stage.run("deploy", "--plan", "plan.json")
    assert again.code == 1
    assert "nothing to do" not in again.out
    assert "error[plan-baseline-moved]: stage-1 is not in the state that the plan starts from" in again.err
    assert "avatar/host (docker) was started from" in again.err
    assert hosts.rollouts == 1
    assert stage.run("plan", "--observe", "-o", "plan.json").code == 0
    assert "restart avatar/host: its last start was not completed" in steps(stage.read(), "stage-1")
    assert stage.run("deploy", "--plan", "plan.json").code == 0
    done = stage.run("deploy", "--plan", "plan.json")
    assert (done.code, hosts.rollouts) == (0, 2)
    assert done.out == "nothing to do: 2 hosts already run what the plan leads to\n"


def test_secrets_that_are_read_elsewhere_are_rolled_out(stage: Workplace, hosts: Hosts) -> None:
    """Hosts say nothing of where secrets are read: the tree that was rolled out last does."""
    changed(stage, "a secret of TURN elsewhere")
    for options in (("--against", "before"), ("--against", "before", "--observe")):
        assert stage.run("plan", *options, "-o", "plan.json").code == 0
        assert steps(stage.read(), "stage-1") == EDITS["a secret of TURN elsewhere"][2]
        assert stage.run("deploy", "--plan", "plan.json").code == 0
    assert hosts.rollouts == 2


def test_slot_with_a_container_that_ended_is_not_well(stage: Workplace, hosts: Hosts) -> None:
    state = hosts.states["stage-2"]
    words = "game of vtuber-luna is exited"
    ill = [replace(p, ill=(words,)) if p.project == "vtuber-luna" else p for p in state.processes]
    hosts.states["stage-2"] = replace(state, processes=tuple(ill))
    done = stage.run("plan", "--observe", "-o", "plan.json")
    assert f"avatar/slot-01 is not well: {words}" in done.out
    assert steps(stage.read(), "stage-2") == [f"ill avatar/slot-01: {words}"]


def test_stack_is_unknown_where_docker_does_not_answer(stage: Workplace, hosts: Hosts) -> None:
    state = hosts.states["stage-2"]
    silent = [replace(p, running=None, unanswered=("its host is silent",)) for p in state.processes]
    hosts.states["stage-2"] = replace(state, processes=tuple(silent))
    done = stage.run("plan", "--observe", "-o", "plan.json")
    assert "whether avatar/host is as reviewed is unknown: its host is silent" in done.out
    assert "nothing changes on stage-1" in done.out and "nothing changes on stage-1, stage-2" not in done.out


def test_slots_are_compared_by_project_and_by_settings_of_turn(stage: Workplace, hosts: Hosts) -> None:
    assert stage.run("plan", "--observe", "-o", "plan.json").code == 0
    state = hosts.states["stage-1"]
    told = [replace(p, project="vtuber-zoe") if p.project == "vtuber-mira" else p for p in state.processes]
    told = [replace(p, turn="a" * 64) if p.project == "vtuber-noor" else p for p in told]
    hosts.states["stage-1"] = replace(state, processes=in_order(told))
    done = stage.run("deploy", "--plan", "plan.json")
    assert "avatar/slot-00 (vtuber-mira) is gone; avatar/slot-00 (vtuber-zoe) is new" in (done.err)
    assert "avatar/slot-01 (vtuber-noor) was started with TURN settings " in done.err


# --- superseded plans ---------------------------------------------------------------------------------


def planned(stage: Workplace, monkeypatch: pytest.MonkeyPatch, minutes: int, name: str, *options: str) -> None:
    """A plan of the fleet as it stands, made some minutes after NOW and kept under a name."""
    monkeypatch.setattr(plans, "clock", lambda: NOW + timedelta(minutes=minutes))
    done = stage.run("plan", *options, "-o", name)
    assert done.code == 0, done.err


def test_plan_that_has_nothing_to_do_supersedes_older_ones(
    stage: Workplace, hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One was approved and taken back before it was carried out: the plan that says so changes nothing on the hosts."""
    text = stage.spec.read_text(encoding="utf-8")
    changed(stage, "a slot more")
    edited = stage.spec.read_text(encoding="utf-8")
    planned(stage, monkeypatch, 1, "change.json", "--observe")
    stage.spec.write_text(text, encoding="utf-8")
    stage.compile()
    planned(stage, monkeypatch, 2, "back.json", "--observe")
    assert stage.run("deploy", "--check", "--plan", "back.json").code == 0
    assert hosts.newest == {}
    done = stage.run("deploy", "--plan", "back.json")
    assert done.out == "nothing to do: 2 hosts already run what the plan leads to\n"
    assert "2 hosts recorded this as the newest plan" in done.err
    assert "wrote down" not in stage.run("deploy", "--plan", "back.json").err
    stage.spec.write_text(edited, encoding="utf-8")
    stage.compile()
    assert "error[plan-superseded]" in stage.run("deploy", "--plan", "change.json").err
    assert hosts.rollouts == 0


def test_one_host_that_knows_a_newer_plan_stops_all(
    stage: Workplace, hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(stage, "a slot more")
    planned(stage, monkeypatch, 1, "change.json", "--observe")
    for given, words in (
        (NewestPlan("2026-03-01T12:01:00Z", "b" * 64), "it got a plan that was made"),
        (NewestPlan("2026-03-01T12:01:00Z", "-"), "a rollout without a plan began"),
        (NewestPlan("2027-03-01T12:01:00Z", "-"), "a rollout without a plan began"),
    ):
        hosts.newest = {"stage-2": given}
        done = stage.run("deploy", "--plan", "change.json")
        assert done.code == 1
        assert f"stage-2 has been rolled out to since: {words}" in done.err and "stage-1" not in done.err
    hosts.newest = {"stage-2": NewestPlan("2026-03-01T12:00:59Z", "b" * 64)}
    assert stage.run("deploy", "--plan", "change.json").code == 0
