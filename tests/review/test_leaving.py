"""Nodes, hosts and stacks that leave the spec: what stops, and what restarts because it named them."""

from __future__ import annotations

import copy
import tomllib
from itertools import combinations
from typing import Any

import pytest
import tomli_w

from tests.review.support import compiled_or_none, example, review
from tests.support import EXAMPLES, exploring

NODES = ("gateways", "orchestrators", "transcoders", "ai_workers", "remote_signers", "redeemers", "reward_callers")
LEAVING = [
    (fleet, (table, name))
    for fleet in EXAMPLES
    for table in ("hosts", "avatars", *NODES)
    for name in tomllib.loads(example(fleet)).get(table, {})
]
NEEDED = 18
"""How many of them others need, so that the spec is refused without them."""

Spec = dict[str, Any]


def cut(value: Any, names: set[str]) -> Any:
    """A value of a spec without the names in its lists; settings that are such a name are gone."""
    if isinstance(value, list):
        return [cut(item, names) for item in value if not (isinstance(item, str) and item in names)]
    if isinstance(value, dict):
        return {key: cut(item, names) for key, item in value.items() if not isinstance(item, str) or item not in names}
    return value


def without(spec: Spec, table: str, name: str) -> tuple[Spec, set[str]]:
    """A spec without a table, and for a host without all that it runs; and the names of the nodes that are gone."""
    left = copy.deepcopy(spec)
    del left[table][name]
    gone = {name} if table in NODES else set()
    for kind in (*NODES, "avatars") if table == "hosts" else ():
        there = {node for node, each in spec.get(kind, {}).items() if each.get("host") == name}
        left |= {kind: {node: each for node, each in left[kind].items() if node not in there}} if there else {}
        gone |= there if kind in NODES else set()
    return cut({kind: tables for kind, tables in left.items() if tables != {}}, gone | {name}), gone


def named(old: Spec, new: Spec) -> set[str]:
    """The nodes whose own tables differ."""
    return {node for kind in NODES for node, each in new.get(kind, {}).items() if each != old[kind][node]}


@pytest.fixture(scope="module")
def refused() -> list[tuple[str, tuple[str, str]]]:
    """What others needed."""
    return []


@pytest.mark.parametrize(("fleet", "place"), LEAVING)
def test_what_leaves_stops_and_only_what_named_it_restarts(
    fleet: str, place: tuple[str, str], refused: list[tuple[str, tuple[str, str]]]
) -> None:
    spec = tomllib.loads(example(fleet))
    left, gone = without(spec, *place)
    if compiled_or_none(tomli_w.dumps(left)) is None:
        refused.append((fleet, place))
        assert len(refused) <= NEEDED
        return
    found = review(tomli_w.dumps(spec), tomli_w.dumps(left))
    stops = {target.node for target in found.stops}
    if place[0] == "avatars":
        slots = {f"avatar/slot-{number:02}" for number in range(len(spec["avatars"][place[1]]["slots"]))}
        gone = {"avatar/host", "avatar/turn", *slots}
    assert stops == (set() if place[0] == "hosts" else gone)  # whether a rollout reaches a host that left is not known
    assert {target.node for target, _ in found.restarts} == named(spec, left) | stops


PAIRS = [*combinations([place for fleet, place in LEAVING if fleet == "two-regions"], 2)]


@pytest.mark.parametrize(("one", "other"), PAIRS[:: 1 if exploring() else 24])
def test_two_that_leave_stop_together(one: tuple[str, str], other: tuple[str, str]) -> None:
    spec = tomllib.loads(example("two-regions"))
    left, gone = without(spec, *one)
    if other[1] not in left.get(other[0], {}):
        return
    left, also = without(left, *other)
    if compiled_or_none(tomli_w.dumps(left)) is None:
        return
    found = review(tomli_w.dumps(spec), tomli_w.dumps(left))
    by_table = {name for table, name in (one, other) if table in NODES}
    assert {target.node for target in found.stops} == by_table & (gone | also)
    assert {target.node for target, _ in found.restarts} == named(spec, left) | by_table
