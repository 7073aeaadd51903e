"""What changes about avatar stacks that people weigh: who reaches them, and how many slots they have.

In: the items of both blueprints. Out: `Fact`s. Called by `effects.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from ipaddress import ip_network

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, FIREWALL_ALLOWLIST
from fleetc.language.quantities.addresses import IpNetwork
from fleetc.review.data import NodeRef
from fleetc.review.impact.facts import Fact
from fleetc.review.impact.restarts import Moved
from fleetc.review.items.deltas import Delta
from fleetc.review.items.item import Item, Key
from fleetc.review.items.of_stacks import TURN_UNIT


def stacks(old: Mapping[Key, Item], new: Mapping[Key, Item], left: Collection[NodeRef]) -> Iterator[Fact]:
    """Callers and slots that come and go, host by host. What is left running keeps its callers."""
    slots: dict[str, list[int]] = {}
    left_on = {target.host for target in left if target.node.startswith(f"{AVATAR_DIRECTORY}/")}
    for key in [*new, *(key for key in old if key not in new)]:
        item = new.get(key) or old[key]
        if item.kind == "allow" and item.what == FIREWALL_ALLOWLIST:
            if item.host not in left_on:
                yield from _callers(item, old.get(key), new.get(key))
        elif item.kind == "slot" and item.presence and (key in old) != (key in new):
            slots.setdefault(item.host, [0, 0])[key in new] += 1
    for host, (gone, come) in slots.items():
        words = [f"{come} more slots" if come > 1 else "one more slot"] * bool(come)
        words += [f"{gone} fewer slots" if gone > 1 else "one slot fewer"] * bool(gone)
        weight = "worse" if gone else ""
        yield Fact("capacity", host, ", ".join(words), Decimal(gone), ("slot-", "stack "), weight=weight)


def _callers(item: Item, before: Item | None, after: Item | None) -> Iterator[Fact]:
    """Networks that the packet filter lets through, or no longer. Only those that it refused before are openings."""
    there, here = (_networks(side) for side in (before, after))
    if there == here:
        return
    come, gone = [n for n in here if not _within(n, there)], [n for n in there if not _within(n, here)]
    parts = []
    for network in come:
        inside = [n for n in there if n not in here and _within(n, [network])]
        parts.append(f"wider: {network} instead of {_listed(inside)}" if inside else f"now {network}")
    for network in gone:
        inside = [n for n in here if n not in there and _within(n, [network])]
        parts.append(f"narrower: {_listed(inside)} instead of {network}" if inside else f"no longer {network}")
    text = f"who may call the stack: {'; '.join(parts) or 'the same addresses, written differently'}"
    headline = f"Lets {_listed(come)} call the avatar stack of {item.host}" if come else ""
    weight = "worse" if come else "better"
    hints = (FIREWALL_ALLOWLIST, "stack ")
    yield Fact("exposure", item.host, text, Decimal(len(come)), hints, weight=weight, headline=headline)


def _networks(item: Item | None) -> list[IpNetwork]:
    return [ip_network(text) for text in item.value.split(", ")] if item is not None and item.value else []


def _within(network: IpNetwork, others: Iterable[IpNetwork]) -> bool:
    """Whether other networks together hold every address of this one."""
    first, last = _ends(network)
    for start, end in sorted(_ends(other) for other in others if other.version == network.version):
        if start <= first:
            first = max(first, end + 1)
    return first > last


def _ends(network: IpNetwork) -> tuple[int, int]:
    return int(network.network_address), int(network.broadcast_address)


def _listed(networks: Iterable[IpNetwork]) -> str:
    return ", ".join(map(str, networks))


def with_shared(moved: Moved, deltas: Iterable[Delta], new: Mapping[Key, Item]) -> Moved:
    """Also the processes of stacks that start again for what they share.

    Secrets of the host reach all of its services, and the settings of TURN reach every slot. A rollout takes both into
    what it compares, though the files of a slot show neither.
    """
    of_host: dict[str, list[str]] = {}
    for item in new.values():
        if item.kind == "slot" and item.presence:
            of_host.setdefault(item.host, []).append(item.what)
    more: set[NodeRef] = set()
    for item in (part.item for delta in deltas for part in delta.all()):
        if item.kind == "secret" and item.key[2:3] == (AVATAR_DIRECTORY,) and len(item.key) > 4:
            more.add(NodeRef(item.host, f"{AVATAR_DIRECTORY}/{item.key[3]}"))
            more |= {NodeRef(item.host, f"{AVATAR_DIRECTORY}/{slot}") for slot in of_host.get(item.host, ())}
    for target in moved.restarted:
        if target.node == f"{AVATAR_DIRECTORY}/{TURN_UNIT}":
            more |= {NodeRef(target.host, f"{AVATAR_DIRECTORY}/{slot}") for slot in of_host.get(target.host, ())}
    return moved._replace(restarted=moved.restarted | (more - moved.started - moved.stopped - moved.left))
