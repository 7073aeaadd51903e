"""The rollout order of hosts and its batches, and the order of nodes on a host: what others use goes first.

In: a `Fleet` and the edges of its blueprint. Out: batches of names of hosts, and which hosts go with one another where
several machines share the work; a sort key for nodes. A gateway needs its signer and orchestrators first, and loses its
streams only once if it restarts last. Batches are fixed here, because Ansible's `serial` counts an unreachable canary
as done.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from fleetc.blueprint.blueprint import Connection
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.signer import Redeemer, RewardCaller, Signer

_STAGES = {Signer: 0, Redeemer: 0, RewardCaller: 0, Orchestrator: 1, Gateway: 3}
_RUNNERS = 0
"""The stage of live runners: an orchestrator asks at once whether they are well."""
_WORKERS = 2
"""The stage of workers, which call their orchestrator, and of avatar stacks."""

_NOTHING = 4
"""The stage of a host that runs nothing: what ran there is stopped once its successors run."""

_Rank = tuple[int, str]


def turn(node: Node) -> _Rank:
    """Sorts nodes: helpers, orchestrators, workers, gateways; within a kind by name."""
    return _STAGES.get(type(node.settings), _WORKERS), node.name


def hosts_in_order(fleet: Fleet, edges: Iterable[Connection]) -> tuple[str, ...]:
    """All hosts, each after the hosts that its nodes use. If several can be next, the one with the earliest stage is.

    The last node of a host decides its stage. If hosts use one another in a circle, one of them goes first anyway.
    """
    ranks = {name: _rank(fleet, name) for name in fleet.hosts}
    home = {node.name: node.settings.host for node in fleet.nodes if effective.out_of(fleet, node) is None}
    home |= {placed.name: placed.host for placed in fleet.placed_runners}
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


Pairs = tuple[tuple[str, str], ...]
"""Pairs of hosts; at least one of each stays up."""

Needed = tuple[tuple[str, tuple[str, ...]], ...]
"""What a group of hosts does of which one at least must stay up, and these hosts."""


def batches_of(fleet: Fleet, edges: Collection[Connection]) -> tuple[tuple[tuple[str, ...], ...], Pairs, Needed]:
    """The batches of a rollout, for each group that must stay up two hosts of different batches, and these groups.

    The canary hosts go first. A batch never stops all gateways, or all orchestrators of one gateway (unless there is
    only one host). By the spec, it never mixes regions. A share is one of all hosts, rounded down, and at least one
    host.
    """
    order, settings = hosts_in_order(fleet, edges), fleet.rollout
    size = settings.batch_size(len(order))
    groups: dict[str, list[str]] = {}
    for name in order:
        groups.setdefault(fleet.hosts[name].region or "" if settings.by == "region" else "", []).append(name)
    needed = _needed(fleet, edges)
    apart: dict[str, list[frozenset[str]]] = {}
    for group in needed:
        for name in group if len(group) > 1 else ():
            apart.setdefault(name, []).append(group)
    batches: list[tuple[str, ...]] = []
    for hosts in groups.values():
        while hosts:
            batch = _batch(hosts, settings.canary if settings.canary and not batches else size, apart)
            batches.append(batch)
            taken = frozenset(batch)
            hosts = [name for name in hosts if name not in taken]
    places = {name: place for place, name in enumerate(order)}
    listed = sorted((words, tuple(sorted(group, key=places.__getitem__))) for group, words in needed.items() if group)
    return tuple(batches), _pairs(batches, apart), tuple(listed)


def _batch(hosts: Sequence[str], size: int, apart: Mapping[str, Sequence[frozenset[str]]]) -> tuple[str, ...]:
    """The next hosts; a host that would complete a group waits for the next batch."""
    batch: list[str] = []
    taken: Counter[frozenset[str]] = Counter()
    for name in hosts:
        groups = apart.get(name, ())
        if all(taken[group] < len(group) - 1 for group in groups):
            batch.append(name)
            taken.update(groups)
        if len(batch) == size:
            break
    return tuple(batch)


def _pairs(batches: Sequence[tuple[str, ...]], apart: Mapping[str, Sequence[frozenset[str]]]) -> Pairs:
    """For each group its first host, and the first one of a later batch."""
    place = {name: (number, at) for number, batch in enumerate(batches) for at, name in enumerate(batch)}
    found = set()
    for group in {group for groups in apart.values() for group in groups}:
        first = min(group, key=place.__getitem__)
        later = [name for name in group if place[name][0] != place[first][0]]
        found.add((first, min(later, key=place.__getitem__)))
    return tuple(sorted(found, key=lambda pair: (place[pair[0]], place[pair[1]])))


def _needed(fleet: Fleet, edges: Iterable[Connection]) -> dict[frozenset[str], str]:
    """The groups of hosts that must not all stop at once, with what they do.

    They are the hosts with gateways, and for each gateway the hosts of its video orchestrators, and of its AI
    orchestrators.
    """
    running = [node for node in fleet.nodes if effective.out_of(fleet, node) is None]
    sellers = {node.name: node for node in running if node.table == "orchestrators"}
    named: dict[str, list[str]] = {}
    finders: list[Node] = []
    for edge in edges:
        if edge.kind == "pays":
            named.setdefault(edge.source, []).append(edge.target)
        elif edge.kind == "finds" and edge.source in fleet.gateways:
            finders.append(Node("gateways", edge.source, fleet.gateways[edge.source]))
    groups = {frozenset(node.settings.host for node in running if node.table == "gateways"): "gateways run"}
    for what, serves in (("video", effective.serves_video), ("AI", effective.serves_ai)):
        homes = {name: node.settings.host for name, node in sellers.items() if serves(node)}
        if any(serves(finder) for finder in finders):
            groups.setdefault(frozenset(homes.values()), f"gateways that search find {what} in this fleet")
        for name, names in named.items():
            if serves(Node("gateways", name, fleet.gateways[name])):
                groups.setdefault(frozenset(homes[one] for one in names if one in homes), f"{name} finds {what}")
    return groups


def _rank(fleet: Fleet, host: str) -> _Rank:
    if fleet.hosts[host].out is not None:
        return _NOTHING, host
    stages = [turn(node)[0] for node in fleet.nodes_by_host.get(host, ()) if node.settings.out is None]
    stages += [_RUNNERS] * len(fleet.runners_by_host.get(host, ()))
    stages += [_WORKERS] * len(fleet.stacks_by_host.get(host, ()))
    return max(stages, default=_NOTHING), host


def _first_of_circle(waits: dict[str, set[str]], ranks: dict[str, _Rank]) -> str:
    """A host in a circle of waiting hosts."""
    passed: dict[str, None] = {}
    name = min(waits)
    while name not in passed:
        passed[name] = None
        name = min(waits[name])
    way = list(passed)
    return min(way[way.index(name) :], key=lambda host: ranks[host])
