"""What the picture of a review says of each node: its role, its prices and its ports, in a few words.

In: a fleet, and the hosts that are drawn. Out: one text for each node and slot. Called by `compare.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fleetc.analysis.prices import NodePrice, prices_of
from fleetc.language import effective
from fleetc.language.effective_avatar import SlotInForce, slots_of
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import ANY_PRICE, price_in_words, reach_of

_PRICES = 3


def slot_name(host: str, unit: str) -> str:
    """What the picture calls a slot: a stack that is renamed keeps its slots."""
    return f"{host}/{unit}"


def facts_of(fleet: Fleet, hosts: Collection[str]) -> dict[str, str]:
    """Each node and slot on some hosts, with what it does."""
    found = {node.name: "; ".join(_of_node(fleet, node)) for node in fleet.nodes if node.settings.host in hosts}
    for stack in fleet.stacks:
        if stack.settings.host in hosts:
            for slot in slots_of(fleet, stack):
                found[slot_name(stack.settings.host, f"slot-{slot.number:02}")] = _of_slot(slot)
    return found


def _of_node(fleet: Fleet, node: Node) -> Iterator[str]:
    yield " ".join(filter(None, (_role(node), getattr(node.settings, "mode", ""))))
    prices = prices_of(fleet, node) if fleet.on_chain else ()
    if prices:
        told = [_price(price) for price in prices[:_PRICES]]
        more = len(prices) - _PRICES
        yield ", ".join([*told, *([f"{more} more price{'s' if more > 1 else ''}"] if more > 0 else [])])
    ports: dict[str, list[str]] = {}
    for port in sorted(effective.bound_ports(fleet, node)):
        ports.setdefault(_reach(port.address), []).append(f"{port.purpose} {port.port}")
    yield from (f"{', '.join(dict.fromkeys(found))} {reach}" for reach, found in ports.items())


def _role(node: Node) -> str:
    return node.table.removesuffix("s").replace("_", " ").replace("ai ", "AI ")


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
