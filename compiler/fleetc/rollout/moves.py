"""What changes its host in a rollout, and the order that follows: nothing ever runs twice.

In: what each host runs and shall run, and the batches. Out: moves and handovers, and safe batches for them. Pure. A
node that moves is stopped where it was before it starts elsewhere, and comes back there if its rollout dies. An
exclusive duty, such as calling rewards for a wallet, moves only after its host confirms that it stopped. A node stays
stopped if its new host is unknown and does not say that it goes back: nowhere is better than twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

Nodes = Mapping[str, tuple[str, ...]]
"""Nodes by name, each with what only one process of the fleet may do at a time."""

Batches = Sequence[tuple[str, ...]]


class Move(NamedTuple):
    """A node that runs on `source` and shall run on `target`."""

    node: str
    source: str
    target: str


class Handover(NamedTuple):
    """An exclusive duty of one process: `source` has it now and continues without it, `target` gets it."""

    what: str
    source: str
    target: str


class CircleError(Exception):
    """Handovers that cannot all wait for one another."""


def moves_of(runs: Mapping[str, Nodes], wants: Mapping[str, Nodes]) -> tuple[Move, ...]:
    """The nodes that some host runs, or may start again by itself, and that another one shall run."""
    home: dict[str, list[str]] = {}
    for host, nodes in runs.items():
        for node in nodes:
            home.setdefault(node, []).append(host)
    moves = [
        Move(node, source, target)
        for target, nodes in wants.items()
        for node in nodes
        for source in home.get(node, ())
        if source != target
    ]
    return tuple(moves)


def handovers_of(runs: Mapping[str, Nodes], wants: Mapping[str, Nodes], moves: Iterable[Move]) -> tuple[Handover, ...]:
    """What one host does alone now and another one shall do; what goes with a node that moves there is left out."""
    moving = {(move.node, move.source, move.target) for move in moves}
    doers = [(what, host, node) for host, nodes in runs.items() for node, does in nodes.items() for what in does]
    handovers: dict[Handover, None] = {}
    for target, nodes in wants.items():
        has = {what for does in runs.get(target, {}).values() for what in does}
        for what in (what for does in nodes.values() for what in does if what not in has):
            for done, source, node in doers:
                if done == what and source != target and (node, source, target) not in moving:
                    handovers[Handover(what, source, target)] = None
    return tuple(handovers)


def arranged(batches: Batches, moves: Sequence[Move], handovers: Sequence[Handover]) -> Batches:
    """The batches, with hosts that nodes leave after those where they arrive, so that they can come back.

    Where hosts exchange nodes, one of them goes first anyway. A handover's source goes before its target. Hosts are
    only ever put later, into batches of their own, so no batch gets more hosts. Raises CircleError.
    """
    first = {host: number for number, batch in enumerate(batches) for host in batch}
    wait = [(move.target, move.source) for move in moves if move.target in first and move.source in first]
    must = [(pair.source, pair.target) for pair in handovers if pair.source in first and pair.target in first]
    rank = _ranks(first, [*wait, *must]) or _ranks(first, must)
    if rank is None:
        names = ", ".join(sorted({host for pair in must for host in pair}))
        raise CircleError(f"{names} hand over to one another what only one may do: change one of them at a time")
    return tuple(_grouped(batches, rank, first))


def _ranks(first: Mapping[str, int], pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[int, int]] | None:
    """A place for each host: the batch that it goes with, and how many steps after it; None if they go in a circle."""
    rank = {host: (number, 0) for host, number in first.items()}
    for _ in range(len(pairs) + 1):
        settled = True
        for before, after in pairs:
            if rank[after] <= rank[before]:
                rank[after] = (rank[before][0], rank[before][1] + 1)
                settled = False
        if settled:
            return rank
    return None


def _grouped(
    batches: Batches, rank: Mapping[str, tuple[int, int]], first: Mapping[str, int]
) -> Iterator[tuple[str, ...]]:
    """Hosts by their places; waiting ones stay apart by original batch."""
    groups: dict[tuple[tuple[int, int], int], list[str]] = {}
    for batch in batches:
        for host in batch:
            groups.setdefault((rank[host], first[host]), []).append(host)
    for key in sorted(groups):
        yield tuple(groups[key])
