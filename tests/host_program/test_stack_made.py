"""Slots that somebody made again in another way: what the host says of them, and what a rollout does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import loaded
from tests.host_program.test_stack import Fleet, bare
from tests.host_program.test_stack_steps import fleet, observed, rolled_out, steps

__all__ = ["bare", "fleet", "rolled_out"]

pytestmark = pytest.mark.usefixtures("processes")

GAME = {
    "service": "unreal-game",
    "project": "vtuber-mira",
    "config": "1",
    "image": "game",
    "id": "a",
    "ports": ["7777"],
}
PINNED = {"image": "game@sha256:1", "updated": True}
STACK = {"slots": [{"name": "slot-00", "project": "vtuber-mira"}]}


def container(**other: object) -> dict[str, Any]:
    return {**GAME, "updated": False, **other}


CASES: dict[str, tuple[dict[str, Any], list[dict[str, Any]], str]] = {
    "as it was": (container(), [container()], ""),
    "an update by the stack": (container(), [container(id="b", updated=True)], ""),
    "an update of what is pinned": (container(**PINNED), [container(**PINNED, id="b")], "with another image"),
    "another image": (container(), [container(id="b")], "runs with another image"),
    "two things": (
        container(),
        [container(ports=[], config="2")],
        "nothing instead of 7777, and was made with another",
    ),
    "twice": (container(), [container(), container()], "unreal-game of vtuber-mira is there 2 times"),
}


@pytest.mark.parametrize("case", CASES)
def test_differences_of_a_slot_are_named(tmp_path: Path, case: str) -> None:
    was, now, words = CASES[case]
    program = loaded(tmp_path)
    found = program["drift_of_slot"](program["made_of"]([was]), now)
    assert len(found) == bool(words) and words in "".join(found)
    assert program["drift_of_slot"]({}, now) == [], "nobody knows what it was made from"


def test_slots_that_the_spec_lacks_are_named_and_so_is_one_that_is_there_twice(tmp_path: Path) -> None:
    beside = container(project="vtuber-new", service="unreal-signaling", ports=["8085"])
    double = container(project="vtuber-old", ports=["7777"])
    others = [
        container(project="shop", service="web"),
        container(project="vtuber-host", service="turn-server", ports=["3478"]),
    ]
    found = list(loaded(tmp_path)["other_slots"](STACK, [container(), beside, double, *others]))
    assert [one["message"] for one in found] == [
        "vtuber-new is a slot that the spec does not have",
        "vtuber-old is a slot that the spec does not have, and publishes 7777 as vtuber-mira does: "
        "which of them starts is chance",
    ]
    assert {(one["code"], one["severity"], one["node"]) for one in found} == {
        ("slot-not-in-spec", "warning", "avatar/host")
    }


def test_slot_that_sleeps_is_put_right_asleep(fleet: Fleet) -> None:
    fleet.world.set_states("vtuber-luna", "exited")
    fleet.world.make_again("vtuber-luna", "unreal-game", ports=["7777"])
    (slot,) = (unit for unit in observed(fleet) if unit["drift"])
    words = "unreal-game of vtuber-luna publishes 7777 instead of 7777 and 9877"
    assert (slot["node"], slot["drift"]) == ("avatar/slot-00", [words])
    assert steps(fleet, reasons=True) == [f"restart avatar/slot-00: {words}"]
    asked = [(call["command"], call.get("options")) for call in fleet.deploy()]
    assert asked == [("down", None), ("up", ["--no-start", "--quiet-pull"])]
    assert fleet.world.states("vtuber-luna") == {"created"}
    assert steps(fleet) == []


@pytest.mark.parametrize("gone", [False, True])
def test_name_of_an_image_means_again_what_a_rollout_started(fleet: Fleet, gone: bool) -> None:
    state = json.loads(fleet.world.state.read_text())
    image = state["made"]["vtuber-luna"]["recorder-control"]["image"]
    other = {"images": {image: "sha256:other"}, "pruned": [f"sha256:{image}"] if gone else []}
    fleet.world.state.write_text(json.dumps(state | other))
    fleet.world.make_again("vtuber-luna", "recorder-control", id="sha256:other")
    (up,) = (call for call in fleet.deploy() if call["command"] == "up")
    assert ("--pull=always" in up["options"]) == gone
    made = json.loads(fleet.world.state.read_text())["made"]["vtuber-luna"]["recorder-control"]
    assert (made["id"] == f"sha256:{image}") != gone, "the stand-in has no registry"


def test_slot_of_which_nobody_knows_what_it_was_made_from_stays(fleet: Fleet) -> None:
    """Its start was by an earlier release of this program, or its marker is torn."""
    (marker,) = fleet.world.inside("/var/lib/fleetc/avatar").glob("slot-00.*")
    marker.write_text(marker.read_text().partition("\n")[0] + '\n{"torn')
    fleet.world.make_again("vtuber-luna", "unreal-game", ports=[])
    assert steps(fleet) == []
