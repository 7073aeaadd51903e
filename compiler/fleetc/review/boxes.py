"""The picture of a review as values: hosts with their nodes, what each does in a few words, and the edges between.

In: two `Side`s, their blueprints, the changes. Out: a `Box` for each host, `Edge`s. Called by `compare.py`.
`reports/picture.py` draws it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import attrgetter

from fleetc.analysis.listeners import of_node
from fleetc.analysis.prices import NodePrice, prices_of
from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, Blueprint
from fleetc.language.effective_avatar import SlotInForce, slots_of
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import ANY_PRICE, price_in_words, reach_of
from fleetc.review.data import Box, Change, Edge, NodeFact, NodeRef
from fleetc.review.sides import Side

_PRICES = 3

_DRAWN_WHOLE = 60
"""The most nodes and slots of a fleet that the picture shows whole."""


def picture_of(
    old: Side,
    new: Side,
    blueprints: tuple[Blueprint, Blueprint] | None,
    hosts: set[str],
    changes: Sequence[Change],
    ends: Iterable[NodeRef],
) -> tuple[tuple[Box, ...], tuple[Edge, ...]]:
    """Hosts with their nodes and the edges between, before and after; of a large fleet only what changes."""
    fleets = [fleet for fleet in (new.fleet, old.fleet) if fleet is not None]
    edges = _edges(*blueprints) if blueprints else []
    node_hosts: dict[str, str] = {}
    for fleet in fleets:
        for node in fleet.nodes:
            node_hosts.setdefault(node.name, node.settings.host)
        for stack in fleet.stacks:
            for slot in slots_of(fleet, stack):
                node_hosts.setdefault(_slot_name(stack.settings.host, f"slot-{slot.number:02}"), stack.settings.host)
    changed = {target.node for change in changes for target in change.targets if target.node}
    units = (target for target in ends if target.node.startswith(f"{AVATAR_DIRECTORY}/"))
    changed |= {_slot_name(target.host, target.node.removeprefix(f"{AVATAR_DIRECTORY}/")) for target in units}
    names = {name for fleet in fleets for name in fleet.hosts}
    if len(node_hosts) > _DRAWN_WHOLE:
        edges = [edge for edge in edges if edge.state or edge.source in changed or edge.target in changed]
        near = {node_hosts[end] for edge in edges for end in edge[:2] if end in node_hosts}
        names &= hosts | near
    inside: dict[str, list[str]] = {}
    for name, host in node_hosts.items():
        inside.setdefault(host, []).append(name)
    before, after = ({} if fleet is None else _facts_of(fleet, names) for fleet in (old.fleet, new.fleet))
    both = old.fleet is not None and new.fleet is not None
    boxes = []
    for name in sorted(names):
        nodes = tuple(sorted(inside.get(name, ())))
        boxes.append(
            Box(
                name,
                _label(fleets, name),
                nodes,
                tuple(node for node in nodes if node in changed),
                tuple(node for node in nodes if both and node not in before),
                tuple(node for node in nodes if both and node not in after),
                tuple(NodeFact(node, after.get(node) or before[node]) for node in nodes),
                _host_state(old.fleet, new.fleet, name),
            )
        )
    return tuple(boxes), tuple(edges)


def _edges(old: Blueprint, new: Blueprint) -> list[Edge]:
    """The connections of both sides, those of one side with their state."""
    before, after = set(old.edges), set(new.edges)
    states = {
        edge: "added" if edge not in before else "removed" if edge not in after else "" for edge in before | after
    }
    return sorted(Edge(*edge, state) for edge, state in states.items())


def _host_state(old: Fleet | None, new: Fleet | None, name: str) -> str:
    """Whether only one side has a host."""
    if old is None or new is None or (name in old.hosts) == (name in new.hosts):
        return ""
    return "added" if name in new.hosts else "removed"


def _label(fleets: Iterable[Fleet], name: str) -> str:
    host = next(fleet.hosts[name] for fleet in fleets if name in fleet.hosts)
    return " ".join(filter(None, (name, host.runtime, host.region)))


def _slot_name(host: str, unit: str) -> str:
    """What the picture calls a slot: a stack that is renamed keeps its slots."""
    return f"{host}/{unit}"


def _facts_of(fleet: Fleet, hosts: Collection[str]) -> dict[str, str]:
    """Each node and slot on some hosts, with what it does."""
    facts = {node.name: "; ".join(_of_node(fleet, node)) for node in fleet.nodes if node.settings.host in hosts}
    for stack in fleet.stacks:
        if stack.settings.host in hosts:
            for slot in slots_of(fleet, stack):
                facts[_slot_name(stack.settings.host, f"slot-{slot.number:02}")] = _of_slot(slot)
    return facts


def _of_node(fleet: Fleet, node: Node) -> Iterator[str]:
    role = node.table.removesuffix("s").replace("_", " ").replace("ai ", "AI ")
    yield " ".join(filter(None, (role, getattr(node.settings, "mode", ""))))
    prices = prices_of(fleet, node) if fleet.on_chain else ()
    if prices:
        texts = [_price(price) for price in prices[:_PRICES]]
        more = len(prices) - _PRICES
        yield ", ".join([*texts, *([f"{more} more price{'s' if more > 1 else ''}"] if more > 0 else [])])
    ports: dict[str, list[str]] = {}
    for port in sorted(of_node(fleet, node), key=attrgetter("address", "port")):
        ports.setdefault(_reach(port.address), []).append(f"{port.purpose} {port.port}")
    yield from (f"{', '.join(dict.fromkeys(listeners))} {reach}" for reach, listeners in ports.items())


def _price(price: NodePrice) -> str:
    amount = ANY_PRICE if price.price is None else str(price.price)
    work = f" for {price.work}" if price.work else ""
    return f"{price_in_words(price.pays, amount)}{work}{f' of {price.to}' if price.to else ''}"


def _reach(address: str) -> str:
    reach = reach_of(address)
    return {"loopback": "for this host only", "everywhere": "on all addresses"}.get(reach, f"on {address}")


def _of_slot(slot: SlotInForce) -> str:
    ports = ", ".join(f"{service} {port}" for service, port in slot.ports.items())
    return f"avatar {slot.avatar} on GPU {slot.gpu}; {ports}"
