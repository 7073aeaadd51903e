"""What a host says of its avatar stack and foretells is what a rollout does; one that fails leads back."""

from __future__ import annotations

import json
import stat
from typing import Any

import pytest

from tests.host_program.avatar_world import CHECKOUT
from tests.host_program.test_stack import Fleet, bare, fleet, reserve_one_more, reserved

__all__ = ["bare", "fleet"]

pytestmark = pytest.mark.usefixtures("processes")

UNITS = ["avatar/firewall", "avatar/host", "avatar/turn", "avatar/slot-00", "avatar/slot-01", "avatar/slot-03"]

_OF_SECRETS = {4: (1, 3), 5: (2, 4)}
"""Which words of the marker of the host and of that of a slot are digests of secrets, by their number."""


@pytest.fixture(scope="module")
def rolled_out(bare: Fleet) -> Fleet:
    """A host whose state after its first rollout, which was foretold, is kept."""
    bare.world.check_out()
    assert observed(bare) == []
    foretold = steps(bare)
    bare.deploy()
    assert foretold == ["copy", *(f"start {unit}" for unit in UNITS)]
    bare.keep("rolled out")
    return bare


def observed(fleet: Fleet) -> list[dict[str, Any]]:
    """The units that the host says it has. No digest of a secret may leave it."""
    state = fleet.world.observe()["state"]
    markers = fleet.world.inside("/var/lib/fleetc/avatar")
    words = [file.read_text().partition("\n")[0].split(" ") for file in markers.iterdir()] if markers.exists() else []
    secrets = {found[place] for found in words for place in _OF_SECRETS.get(len(found), ())}
    assert not any(word in said for word in secrets for said in fleet.world.said)
    units: list[dict[str, Any]] = state["processes"]
    return units


def steps(fleet: Fleet, reasons: bool = False) -> list[str]:
    """What a rollout of the spec as it stands would do."""
    answer = fleet.rollout(check=True)
    assert answer["ok"], answer
    told = [one for one in answer["steps"] if one["do"] != "keep"]
    return [f"{one['do']} {one['node']}".strip() + f": {one['reason']}" * reasons for one in told]


def fails(fleet: Fleet) -> dict[str, Any]:
    """A rollout that the host takes back."""
    answer = fleet.rollout()
    assert answer["ok"], answer
    switch: dict[str, Any] = answer["switch"]
    assert switch["phase"] == "reverted", switch
    return switch


def test_host_after_its_first_rollout_is_at_the_end(fleet: Fleet) -> None:
    units = observed(fleet)
    assert sorted(unit["node"] for unit in units) == sorted(UNITS)
    assert {unit["running"] for unit in units} == {True}
    assert {unit["project"] for unit in units} == {"", "vtuber-luna", "vtuber-orin", "vtuber-mira"}
    assert steps(fleet) == []


def test_other_secrets_are_foretold_by_each_host(fleet: Fleet) -> None:
    fleet.password = "turn-password-other"
    readers = ["turn", "slot-00", "slot-01", "slot-03"]
    assert steps(fleet, reasons=True) == [f"restart avatar/{unit}: its secrets change" for unit in readers]
    answer = fleet.rollout()
    assert answer["switch"]["restarted"] == [f"avatar/{unit}" for unit in readers]
    assert steps(fleet) == []


def test_other_settings_of_turn_are_foretold_for_who_reads_them(fleet: Fleet) -> None:
    fleet.change("[avatars.stage.turn]", '[avatars.stage.turn]\nrealm = "other"')
    turn = "the settings of TURN change, which signaling and recorder read"
    slots = [f"restart avatar/slot-0{number}: {turn}" for number in (0, 1, 3)]
    assert steps(fleet, reasons=True)[1:] == ["restart avatar/turn: its files change", *slots]
    assert fleet.rollout()["switch"]["restarted"] == [
        f"avatar/{unit}" for unit in ("turn", "slot-00", "slot-01", "slot-03")
    ]


def test_slot_that_does_not_start_leads_back_and_says_why_without_secrets(fleet: Fleet) -> None:
    fleet.change("slot = 3, gpu = 0", "slot = 3, gpu = 1")
    fleet.world.fail("vtuber-mira")
    switch = fails(fleet)
    assert switch["reasons"] == ["vtuber-mira does not start: a port is already allocated, and the token is ***"]
    there, back = fleet.world.calls()
    assert (there["project"], back["project"]) == ("vtuber-mira", "vtuber-mira")
    assert back["options"][0] == "--detach", "containers that never ran are no sleep"
    assert back["model"]["services"]["unreal-game"]["environment"]["NVIDIA_VISIBLE_DEVICES"] == "0"
    fleet.change("slot = 3, gpu = 1", "slot = 3, gpu = 0")
    assert steps(fleet) == []


def test_slot_that_sleeps_sleeps_on_after_a_start_that_failed(fleet: Fleet) -> None:
    fleet.world.set_states("vtuber-mira", "exited")
    fleet.change("slot = 3, gpu = 0", "slot = 3, gpu = 1")
    fleet.world.fail("vtuber-mira")
    fails(fleet)
    assert [call["options"][0] for call in fleet.world.calls()] == ["--no-start", "--no-start"]
    assert fleet.world.states("vtuber-mira") == {"exited"}
    fleet.change("slot = 3, gpu = 1", "slot = 3, gpu = 0")
    assert steps(fleet) == []


def test_environment_of_the_checkout_goes_back_with_the_services_of_the_host(fleet: Fleet) -> None:
    env = fleet.world.inside(CHECKOUT) / ".env"
    before = env.read_text()
    fleet.change("[avatars.stage.payments]", "remote_ops = false\n[avatars.stage.payments]")
    fleet.world.fail("vtuber-host")
    assert fails(fleet)["restarted"][0] == "avatar/host"
    started = [call["model"]["services"]["orchestrator-health"]["environment"] for call in fleet.world.calls()]
    assert [found["EXPERIMENTAL_REMOTE_OPS"] for found in started] == ["0", "1", "1"]
    assert env.read_text() == before
    assert (stat.S_IMODE(env.stat().st_mode), env.stat().st_uid) == (0o600, 1234)
    fleet.change("remote_ops = false\n[avatars", "[avatars")
    assert steps(fleet) == []


def test_slot_that_ends_again_and_again_leads_back(fleet: Fleet) -> None:
    fleet.change("slot = 3, gpu = 0", "slot = 3, gpu = 1")
    fleet.world.fail("vtuber-mira", "restarting")
    (reason,) = fails(fleet)["reasons"]
    assert reason.endswith("of vtuber-mira is restarting")
    assert fleet.world.states("vtuber-mira") == {"running"}
    fleet.change("slot = 3, gpu = 1", "slot = 3, gpu = 0")
    assert steps(fleet) == []


def test_what_was_changed_on_the_host_is_put_right(fleet: Fleet) -> None:
    env, unit = fleet.world.inside(CHECKOUT) / ".env", "/etc/systemd/system/fleetc-avatar-firewall.service"
    profile = fleet.world.inside("/etc/profile.d/fleetc-avatar.sh")
    files = {path: path.read_text() for path in (env, fleet.world.inside(unit), profile)}
    env.unlink()
    assert steps(fleet, reasons=True) == ["restart avatar/host: .env of the checkout is gone"]
    fleet.world.inside(unit).write_text("")
    profile.write_text("")
    (fleet.world.inside("/opt/fleetc/current/avatar").resolve() / "slots/slot-00.env").write_text("")
    assert steps(fleet, reasons=True) == [
        "restart avatar/firewall: its unit was changed",
        "restart avatar/host: files of its release were changed: slots/slot-00.env",
    ]
    assert fleet.deploy() == []
    assert {path: path.read_text() for path in files} == files
    assert steps(fleet) == []


def test_avatar_that_moves_does_what_was_foretold(fleet: Fleet) -> None:
    """Also with the containers of one slot and the rules gone."""
    fleet.change("slot = 3, gpu = 0", "slot = 5, gpu = 0")
    state = json.loads(fleet.world.state.read_text())
    del state["projects"]["vtuber-orin"]
    fleet.world.state.write_text(json.dumps(state))
    fleet.world.run("nft", "flush", "ruleset")
    begun = ["avatar/firewall", "avatar/host", "avatar/slot-01", "avatar/slot-05"]
    assert steps(fleet) == [
        *("copy", "retire avatar/slot-03", "start avatar/firewall", "restart avatar/host"),
        *("start avatar/slot-01", "start avatar/slot-05"),
    ]
    answer = fleet.rollout()
    assert answer["switch"]["restarted"] == begun
    calls = dict.fromkeys((call["command"], call["project"]) for call in fleet.world.calls())
    assert list(calls) == [
        ("down", "vtuber-mira"),
        *(("up", f"vtuber-{name}") for name in ("host", "orin", "mira")),
    ]
    fleet.world.set_states("vtuber-mira", "exited")
    assert steps(fleet) == [], "a slot that sleeps is left asleep"


def test_stack_that_left_the_spec_leaves_nothing(fleet: Fleet) -> None:
    start, end = fleet.spec.index("[avatars.stage]"), fleet.spec.index("[avatars.solo]")
    spec, fleet.spec = fleet.spec, fleet.spec[:start] + fleet.spec[end:]
    slots = [f"retire avatar/slot-0{number}" for number in (0, 1, 3)]
    assert steps(fleet) == ["copy", *slots, *(f"retire avatar/{unit}" for unit in ("turn", "host", "firewall"))]
    reserve_one_more(fleet)
    downs = [("down", f"vtuber-{name}") for name in ("luna", "orin", "mira", "host")]
    assert [(call["command"], call["project"]) for call in fleet.deploy()] == downs
    assert observed(fleet) == []
    assert steps(fleet) == []
    assert fleet.world.run("nft", "list", "tables") == ""
    assert reserved(fleet) == "40000"
    for directory in ("/opt/fleetc/current", "/etc/profile.d", "/etc/sysctl.d"):
        assert list(fleet.world.inside(directory).iterdir()) == []
    units = [path.name for path in fleet.world.inside("/etc/systemd/system").rglob("*.service")]
    assert units == ["fleetc-host.service"] * 2, "the program's own unit"
    fleet.spec = spec
    assert len(steps(fleet)) == len(UNITS) + 1


def test_containers_that_ended_are_named_and_nothing_is_done(fleet: Fleet) -> None:
    """No file of theirs changes, so no step helps them: their units are not well, as nodes would be."""
    state = json.loads(fleet.world.state.read_text())
    state["projects"]["vtuber-luna"]["unreal-game"] = "exited"
    state["projects"]["vtuber-host"]["turn-server"] = "restarting"
    del state["projects"]["vtuber-host"]["orchestrator-health"]
    fleet.world.state.write_text(json.dumps(state))
    fleet.world.set_states("vtuber-mira", "exited")
    assert steps(fleet, reasons=True) == [
        "ill avatar/host: orchestrator-health has no container",
        "ill avatar/turn: turn-server of vtuber-host is restarting",
        "ill avatar/slot-00: unreal-game of vtuber-luna is exited",
    ], "a slot all of which ended sleeps"
    answer = fleet.rollout()
    assert answer["ok"] and answer["needed"] is False and fleet.world.calls() == []
    fleet.world.set_states("vtuber-mira", "exited 1")
    assert "ill avatar/slot-03" in steps(fleet), "a slot all of which failed does not sleep"
    fleet.change("[avatars.stage.turn]", '[avatars.stage.turn]\nrealm = "other"')
    assert "restart avatar/slot-00" in steps(fleet), "what is ill is still started where its settings change"


def test_stack_is_unknown_where_docker_does_not_answer(fleet: Fleet) -> None:
    docker = fleet.world.state
    kept = docker.read_text()
    docker.write_text("{}")
    assert {unit["running"] for unit in observed(fleet) if unit["runtime"] == "docker"} == {None}
    answer = fleet.rollout(check=True)
    assert answer["code"] == "runtime-silent" and "avatar/slot-00" in answer["message"]
    docker.write_text(kept)
    assert steps(fleet) == []
