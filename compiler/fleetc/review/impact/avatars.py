"""What changes about avatar stacks that people weigh: who reaches them, and how many slots they have.

In: the items of both blueprints. Out: `Fact`s. Called by `effects.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from ipaddress import ip_network

from fleetc.blueprint.blueprint import FIREWALL_ALLOWLIST
from fleetc.language.quantities.addresses import IpNetwork
from fleetc.review.impact.facts import Fact
from fleetc.review.items.item import Item, Key
from fleetc.review.items.of_stacks import ASLEEP


def stacks(old: Mapping[Key, Item], new: Mapping[Key, Item]) -> Iterator[Fact]:
    """Callers that come and go, and slots that are awake, host by host."""
    slots: dict[str, list[int]] = {}
    for key in [*new, *(key for key in old if key not in new)]:
        item = new.get(key) or old[key]
        if item.kind == "allow" and item.what == FIREWALL_ALLOWLIST:
            yield from _callers(item, old.get(key), new.get(key))
        elif item.kind == "slot" and item.presence:
            was, will = (key in side and (*key, ASLEEP) not in side for side in (old, new))
            if was != will:
                slots.setdefault(item.host, [0, 0])[will] += 1
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
