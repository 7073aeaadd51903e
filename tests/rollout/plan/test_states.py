"""What a rollout does on a host follows from what the host has: each action, its order, and the batches."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from fleetc.disk.reading import read_playbooks
from fleetc.emit.artifacts import json_document
from fleetc.emit.host_program import HOST_PROGRAM
from fleetc.emit.tree import Tree, tree_of
from fleetc.review.data import Change, Effect, NodeRef, Review
from fleetc.rollout.plan.data import OBSERVED, RECORDED, UNKNOWN, HostState, Process
from fleetc.rollout.plan.make import effects_of
from fleetc.rollout.plan.states import (
    RecordError,
    actions_for,
    is_reached,
    recorded_places,
    recorded_states,
)
from tests.emit import support

PROGRAM = read_playbooks()[HOST_PROGRAM]
A, B, C = "a" * 64, "b" * 64, "c" * 64
HOST = support.host("edge", support.service("first"), support.service("second"), runtime="systemd")
WANTED = HostState("edge", RECORDED, A, (Process("first", A, "systemd", None), Process("second", B, "systemd", None)))


def observed(*processes: Process, release: str = A) -> HostState:
    return HostState("edge", OBSERVED, release, processes)


def steps(now: HostState) -> list[str]:
    return [
        f"{a.do} {a.node or 'release'}: {a.reason}".removesuffix(": ") for a in actions_for(PROGRAM, HOST, now, WANTED)
    ]


FIRST, SECOND = Process("first", A, "systemd", True), Process("second", B, "systemd", True)
CASES = {
    "all is there": (observed(FIRST, SECOND), ["keep release", "keep first", "keep second"]),
    "a bare host": (observed(release=""), ["copy release", "start first: is new here", "start second: is new here"]),
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
    "a process that ended": (
        observed(FIRST, replace(SECOND, running=False)),
        ["keep release", "keep first", "start second: does not run"],
    ),
    "what has no place any more, units before containers": (
        observed(Process("a", C, "docker", True), FIRST, SECOND, Process("z", C, "systemd", False)),
        [
            "keep release",
            "retire z: has no place here any more",
            "retire a: has no place here any more",
            "keep first",
            "keep second",
        ],
    ),
    "a container that becomes a unit": (
        observed(replace(FIRST, runtime="docker"), SECOND),
        ["keep release", "retire first: moves from docker to systemd", "start first: is new here", "keep second"],
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
    with pytest.raises(RecordError, match="does not say what the host runs"):
        recorded_states(record)
    with pytest.raises(RecordError, match="does not say where the host is"):
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
