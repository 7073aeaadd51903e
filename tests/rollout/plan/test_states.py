"""What a rollout does on a host follows from what the host has: each action, its order, and the batches."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from fleetc.disk.reading import read_playbooks
from fleetc.emit.artifacts import json_document
from fleetc.emit.host_program import HOST_STEPS
from fleetc.emit.tree import Tree, tree_of
from fleetc.planner import stacks
from fleetc.planner.data import OBSERVED, RECORDED, UNKNOWN, HostState, ProcessState
from fleetc.planner.states import (
    RecordError,
    is_reached,
    recorded_places,
    recorded_states,
    steps_between,
)
from fleetc.review.data import Change, Effect, NodeRef, Review
from fleetc.rollout.plan.make import effects_of
from tests.emit import support

PROGRAM = read_playbooks()[HOST_STEPS]
A, B, C = "a" * 64, "b" * 64, "c" * 64
HOST = support.host("edge", support.service("first"), support.service("second"), runtime="systemd")
GIVEN = (ProcessState("first", A, "systemd", None), ProcessState("second", B, "systemd", None))
WANTED = HostState("edge", RECORDED, A, GIVEN)


def observed(*processes: ProcessState, release: str = A) -> HostState:
    return HostState("edge", OBSERVED, release, processes)


def steps(now: HostState) -> list[str]:
    return [f"{a.do} {a.node or 'release'}: {a.reason}".removesuffix(": ") for a in steps_between(PROGRAM, now, WANTED)]


FIRST, SECOND = ProcessState("first", A, "systemd", True), ProcessState("second", B, "systemd", True)
CASES = {
    "all is there": (observed(FIRST, SECOND), ["keep release", "keep first", "keep second"]),
    "a bare host": (
        observed(release=""),
        ["copy release", "start first: it is new here", "start second: it is new here"],
    ),
    "other files": (
        observed(replace(FIRST, digest=C), SECOND, release=C),
        ["copy release", "restart first: its files change", "keep second"],
    ),
    "a start that was cut short": (
        observed(replace(FIRST, digest=""), SECOND),
        ["keep release", "restart first: its last start was not completed", "keep second"],
    ),
    "a process that was changed by hand": (
        observed(replace(FIRST, drift=("its unit was changed",)), SECOND),
        ["keep release", "restart first: its unit was changed", "keep second"],
    ),
    "a unit that somebody disabled": (
        observed(replace(FIRST, unlinked=("its unit is disabled",)), SECOND),
        ["keep release", "ensure first: its unit is disabled", "keep second"],
    ),
    "a process that ended": (
        observed(FIRST, replace(SECOND, running=False)),
        ["keep release", "keep first", "start second: it does not run"],
    ),
    "what has no place any more, units before containers": (
        observed(ProcessState("a", C, "docker", True), FIRST, SECOND, ProcessState("z", C, "systemd", False)),
        [
            "keep release",
            "retire z: it has no place here any more",
            "retire a: it has no place here any more",
            "keep first",
            "keep second",
        ],
    ),
    "a container that becomes a unit": (
        observed(replace(FIRST, runtime="docker"), SECOND),
        ["keep release", "retire first: it moves from docker to systemd", "start first: it is new here", "keep second"],
    ),
    "nobody knows": (HostState("edge", UNKNOWN), ["ensure release", "ensure first", "ensure second"]),
    "a tree that was rolled out": (WANTED, ["keep release", "keep first", "keep second"]),
}


@pytest.mark.parametrize("name", CASES)
def test_actions(name: str) -> None:
    now, expected = CASES[name]
    assert steps(now) == expected


@pytest.mark.parametrize("name", CASES)
def test_a_host_is_where_the_plan_leads_exactly_when_nothing_is_to_be_done(name: str) -> None:
    now, expected = CASES[name]
    assert is_reached(now, WANTED) == all(step.startswith("keep") for step in expected)


@pytest.mark.parametrize(
    ("runs", "gets"),
    [({"drift": ("its unit was changed",)}, {}), ({"secrets": "a"}, {"secrets": "b"}), ({"rest": ""}, {"rest": ""})],
)
def test_setting_is_not_set_live_where_more_may_differ(runs: dict[str, Any], gets: dict[str, Any]) -> None:
    there = ProcessState("first", C, "systemd", True, rest=B, live=("v=3",))
    wanted = replace(there, digest=A, running=None, live=("v=4",), **gets)
    actions = steps_between(PROGRAM, observed(replace(there, **runs)), replace(WANTED, processes=(wanted,)))
    assert [(action.do, action.reason) for action in actions[1:]] == [("restart", "its files change")]


def test_start_of_the_services_of_a_stack_that_was_cut_short_concerns_turn() -> None:
    units = (ProcessState(stacks.HOST, A, "docker", None), ProcessState(stacks.TURN, B, "docker", None))
    actions = steps_between(PROGRAM, observed(replace(units[0], digest="")), replace(WANTED, processes=units))[1:]
    assert {(a.do, a.reason) for a in actions} == {("restart", "its last start was not completed")}


def test_a_tree_says_what_runs_once_it_is_rolled_out() -> None:
    tree = support.emitted(support.plan())
    states = recorded_states(tree)
    assert {host: state.release for host, state in states.items()} == {
        host: support.release_in(tree, host).host for host in ("edge-1", "gpu-1", "spare-1")
    }
    assert [p.node for p in states["gpu-1"].processes] == ["gw-us", "orch-a"]
    assert {p.runtime for p in states["gpu-1"].processes} == {"systemd"}
    assert states["spare-1"].processes == ()


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("ansible/host_vars/gpu-1.json", b"{}\n"),
        ("ansible/host_vars/gpu-1.json", b"nonsense"),
        ("hosts/gpu-1/orch-a/launch.flags", b"-a=1\n"),
        ("manifest.json", b"{}"),
        ("manifest.json", b"[]"),
        ("manifest.json", b'{"files": [1]}'),
    ],
)
def test_a_tree_that_was_edited_is_no_record(path: str, content: bytes) -> None:
    tree = support.emitted(support.plan())
    edited = Tree(tuple(a._replace(content=content) if a.path == path else a for a in tree.artifacts))
    with pytest.raises(RecordError):
        recorded_states(edited)


def test_a_tree_whose_host_says_nothing_is_no_record() -> None:
    tree = support.emitted(support.plan())
    odd = next(a for a in tree.artifacts if a.path == "ansible/host_vars/gpu-1.json")._replace(content=b"{}\n")
    manifest = json_document({"files": [{"path": odd.path, "sha256": odd.sha256}]}).encode()
    record = tree_of([odd, tree.as_mapping()["manifest.json"]._replace(content=manifest)])
    with pytest.raises(RecordError, match="has no state of the host"):
        recorded_states(record)
    with pytest.raises(RecordError, match="has no address of the host"):
        recorded_places(record)


def test_effects_of_a_review_come_once_for_each_target() -> None:
    grave, light = Effect("restart", "gw restarts", Decimal(1)), Effect("price", "cap 10 % higher", Decimal("10.0"))
    targets = (NodeRef("edge-1", "gw"), NodeRef("edge-2", "gw-2"))
    changes = (
        Change("argument", "-a", "1", "2", targets, (), (grave, light), ()),
        Change("argument", "-b", "1", "2", targets[:1], (), (grave,), ()),
        Change("rollout", "canary", "1", "2", (NodeRef("", ""),), (), (light,), ()),
    )
    review = Review("aurora", "", "", changes, (), (), (), (), ())
    assert effects_of(review) == {
        ("edge-1", "gw"): [grave, light],
        ("edge-2", "gw-2"): [grave, light],
        ("", ""): [light],
    }
