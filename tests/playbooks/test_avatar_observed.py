"""What a host says of its avatar stack, after rollouts with real Ansible, is what a sealed plan expects of it."""

from __future__ import annotations

import json
import re

import pytest

from fleetc.rollout.hosts.observe import TASKS, said
from fleetc.rollout.plan.data import HostState
from fleetc.rollout.plan.states import actions_for, is_reached, recorded_states
from tests.emit.programs import program
from tests.playbooks.avatar_world import CHECKOUT
from tests.playbooks.test_avatar_role import Fleet, bare
from tests.support import compile_text

__all__ = ["bare"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("processes")]

_ANSWER = re.compile(r"^TASK \[fleet_observe : (.*)\] \*+\n(?:ok|changed): \[gpu-1\] => (\{.*\})$", re.MULTILINE)

_OF_SECRETS = {4: (1, 3), 5: (2, 4)}
"""Which words of the marker of the host and of that of a slot are digests of secrets, by their number."""


@pytest.fixture(scope="module")
def fleet(bare: Fleet) -> Fleet:
    """The host after its first rollout."""
    program("awk")
    bare.world.check_out()
    assert observed(bare).processes == ()
    bare.deploy()
    return bare


def observed(fleet: Fleet) -> HostState:
    """What the host says to the role fleet_observe. No digest of a secret may leave it."""
    done = fleet.world.deploy(fleet.spec, "-v", playbook="observe.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    answers = {task: json.loads(answer) for task, answer in _ANSWER.findall(done.stdout) if task in TASKS}
    assert set(answers) == set(TASKS), done.stdout
    markers = fleet.world.inside("/var/lib/fleetc/avatar")
    words = [file.read_text().split(" ") for file in markers.iterdir()] if markers.exists() else []
    secrets = {found[place] for found in words for place in _OF_SECRETS.get(len(found), ())}
    assert not any(word in done.stdout for word in secrets)
    return said("gpu-1", answers)


def wanted(fleet: Fleet) -> HostState:
    """What the spec as it stands leads to."""
    compiled = compile_text(fleet.spec)
    assert compiled.tree is not None
    return recorded_states(compiled.tree)["gpu-1"]


def steps(fleet: Fleet, now: HostState) -> list[str]:
    """What a plan from `now` does."""
    compiled = compile_text(fleet.spec)
    assert compiled.blueprint is not None
    (host,) = [host for host in compiled.blueprint.hosts if host.name == "gpu-1"]
    return [f"{a.do} {a.node}".strip() for a in actions_for(host, now, wanted(fleet)) if a.do != "keep"]


def test_host_after_its_first_rollout_is_at_the_end(fleet: Fleet) -> None:
    now = observed(fleet)
    assert is_reached(now, wanted(fleet))
    assert {process.running for process in now.processes} == {True}
    assert len(now.processes) == 6


def test_rollout_that_breaks_off_in_the_stack_is_not_at_the_end(fleet: Fleet) -> None:
    file = fleet.world.inside(CHECKOUT) / "docker-compose.unreal.instance.yml"
    text = file.read_text()
    file.write_text(text + "nonsense: [\n")
    fleet.change("slot = 3, gpu = 0", "slot = 3, gpu = 1")
    assert fleet.rollout().returncode != 0
    file.write_text(text)
    now = observed(fleet)
    assert now.release == wanted(fleet).release
    assert not is_reached(now, wanted(fleet))
    assert steps(fleet, now) == ["restart avatar/slot-03"]


def test_avatar_that_moves_does_what_was_foretold(fleet: Fleet) -> None:
    """Also with the containers of one slot and the rules gone, and without the slot that broke off above."""
    fleet.change("slot = 3, gpu = 1", "slot = 5, gpu = 0")
    state = json.loads(fleet.world.state.read_text())
    del state["projects"]["vtuber-orin"]
    fleet.world.state.write_text(json.dumps(state))
    fleet.world.run("nft", "flush", "ruleset")
    assert steps(fleet, observed(fleet)) == [
        *("copy", "retire avatar/slot-03", "start avatar/firewall", "restart avatar/host"),
        *("start avatar/slot-01", "start avatar/slot-05"),
    ]
    fleet.world.calls()
    calls = dict.fromkeys((call["command"], call["project"]) for call in fleet.deploy())
    begun = [("up", project) for project in ("vtuber-host", "vtuber-orin", "vtuber-mira")]
    assert list(calls) == [("down", "vtuber-mira"), *begun]
    fleet.world.set_states("vtuber-mira", "exited")
    assert is_reached(observed(fleet), wanted(fleet)), "a slot that sleeps is left asleep"


def test_stack_that_left_the_spec_leaves_nothing(fleet: Fleet) -> None:
    start, end = fleet.spec.index("[avatars.stage]"), fleet.spec.index("[avatars.solo]")
    now = observed(fleet)
    fleet.spec = fleet.spec[:start] + fleet.spec[end:]
    slots = [f"retire avatar/slot-0{number}" for number in (0, 1, 5)]
    assert steps(fleet, now) == ["copy", *slots, *(f"retire avatar/{unit}" for unit in ("turn", "host", "firewall"))]
    fleet.deploy()
    now = observed(fleet)
    assert now.processes == ()
    assert is_reached(now, wanted(fleet))
