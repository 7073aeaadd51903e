"""Moves and handovers: the order keeps every promise, for many small fleets."""

from __future__ import annotations

import random

import pytest

from fleetc.rollout.moves import CircleError, Handover, Move, arranged, handovers_of, moves_of

REWARD = "calls reward for 0x1"
Hosts = dict[str, dict[str, tuple[str, ...]]]


def test_node_that_may_start_on_its_old_host_still_moves() -> None:
    """A rollout died: the new host runs the node and may go back, and then the old host starts it again."""
    runs: Hosts = {"one": {"gate": ()}, "two": {"gate": ()}}
    assert moves_of(runs, {"one": {}, "two": {"gate": ()}}) == (Move("gate", "one", "two"),)


def test_reward_that_goes_with_its_node_is_no_handover() -> None:
    runs: Hosts = {"one": {"orch": (REWARD,)}, "two": {}}
    wants: Hosts = {"one": {}, "two": {"orch": (REWARD,)}}
    assert handovers_of(runs, wants, moves_of(runs, wants)) == ()


def test_reward_within_a_host_is_no_handover() -> None:
    runs: Hosts = {"one": {"orch": (REWARD,), "caller": ()}}
    wants: Hosts = {"one": {"orch": (), "caller": (REWARD,)}}
    assert handovers_of(runs, wants, moves_of(runs, wants)) == ()


def test_hosts_that_exchange_nodes_keep_their_batches() -> None:
    batches = (("a",), ("b",))
    assert list(arranged(batches, [Move("n", "a", "b"), Move("m", "b", "a")], ())) == [("a",), ("b",)]


def test_handovers_in_a_circle_are_refused() -> None:
    with pytest.raises(CircleError, match="a, b hand over"):
        arranged((("a",), ("b",)), (), [Handover("x", "a", "b"), Handover("y", "b", "a")])


def test_order_for_many_fleets() -> None:
    """Handovers always hold; moves do unless hosts exchange nodes; no batch ever gets more hosts."""
    numbers = random.Random(7)
    for _ in range(2000):
        hosts = [f"h{i}" for i in range(numbers.randint(2, 7))]
        batches, rest = [], list(hosts)
        while rest:
            size = numbers.randint(1, 3)
            batches.append(tuple(rest[:size]))
            rest = rest[size:]
        pairs = [tuple(numbers.sample(hosts, 2)) for _ in range(numbers.randint(0, 4))]
        moves = [Move("n", source, target) for source, target in pairs]
        handovers = [Handover("x", *numbers.sample(hosts, 2)) for _ in range(numbers.randint(0, 2))]
        try:
            found = list(arranged(batches, moves, handovers))
        except CircleError:
            assert len(handovers) == 2 and handovers[0].source == handovers[1].target
            continue
        assert sorted(host for batch in found for host in batch) == sorted(hosts)
        assert all(any(set(batch) <= set(before) for before in batches) for batch in found)
        at = {host: number for number, batch in enumerate(found) for host in batch}
        assert all(at[one.source] < at[one.target] for one in handovers)
        edges = [(move.target, move.source) for move in moves] + [(one.source, one.target) for one in handovers]
        if not _circular(edges):
            assert all(at[move.target] < at[move.source] for move in moves)


def _circular(edges: list[tuple[str, str]]) -> bool:
    left = list(edges)
    while left:
        free = [edge for edge in left if edge[1] not in {before for before, _ in left}]
        if not free:
            return True
        left = [edge for edge in left if edge not in free]
    return False
