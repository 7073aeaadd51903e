"""The rollout order of hosts, and of nodes on a host: what others use goes before those who use it.

In: a `Fleet` and the edges of its blueprint. Out: names of hosts; a sort key for nodes. A gateway that starts before
its signer or its orchestrators has nobody to sign or to work for it, and one that restarts last loses its streams only
once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from fleetc.blueprint.blueprint import Connection
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.signer import Redeemer, RewardCaller, Signer

_STAGES = {Signer: 0, Redeemer: 0, RewardCaller: 0, Orchestrator: 1, Gateway: 3}
_WORKERS = 2
"""The stage of workers, which call their orchestrator, and of avatar stacks."""

_NOTHING = 4
"""The stage of a host that runs nothing: what ran there is stopped once its successors run."""

_Rank = tuple[int, str]


def turn(node: Node) -> _Rank:
    """Sorts nodes: helpers, orchestrators, workers, gateways; within a kind by name."""
    return _STAGES.get(type(node.settings), _WORKERS), node.name


def hosts_in_order(fleet: Fleet, edges: Iterable[Connection]) -> tuple[str, ...]:
    """All hosts: each after those that its nodes use. If several can be next, the one with the earliest stage is.

    The last node of a host decides its stage. If hosts use one another in a circle, one of them goes first anyway.
    """
    ranks = {name: _rank(fleet, name) for name in fleet.hosts}
    home = {node.name: node.settings.host for node in fleet.nodes}
    waits: dict[str, set[str]] = {name: set() for name in ranks}
    used_by: dict[str, set[str]] = {name: set() for name in ranks}
    for edge in edges:
        user, used = (edge.target, edge.source) if edge.kind == "serves" else (edge.source, edge.target)
        here, there = home.get(user), home.get(used)
        if here is not None and there is not None and here != there:
            waits[here].add(there)
            used_by[there].add(here)
    ready = [ranks[name] for name, before in waits.items() if not before]
    heapq.heapify(ready)
    order: list[str] = []
    while waits:
        name = heapq.heappop(ready)[1] if ready else _first_of_circle(waits, ranks)
        order.append(name)
        del waits[name]
        for user in used_by[name] & waits.keys():
            waits[user].remove(name)
            if not waits[user]:
                heapq.heappush(ready, ranks[user])
    return tuple(order)


def _rank(fleet: Fleet, host: str) -> _Rank:
    stages = [turn(node)[0] for node in fleet.nodes_by_host.get(host, ())]
    stages += [_WORKERS] * len(fleet.stacks_by_host.get(host, ()))
    return max(stages, default=_NOTHING), host


def _first_of_circle(waits: dict[str, set[str]], ranks: dict[str, _Rank]) -> str:
    """A host in a circle, found by following from each host one that it waits for."""
    passed: dict[str, None] = {}
    name = min(waits)
    while name not in passed:
        passed[name] = None
        name = min(waits[name])
    way = list(passed)
    return min(way[way.index(name) :], key=lambda host: ranks[host])
