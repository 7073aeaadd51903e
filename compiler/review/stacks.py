"""What changes about avatar stacks that people weigh: who reaches them, and how many slots they have.

In: the items of both plans. Out: `Fact`s. Called by `impact.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from compiler.plan import AVATAR_DIRECTORY, FIREWALL_ALLOWLIST
from compiler.review.data import Target
from compiler.review.deltas import Delta
from compiler.review.facts import Fact
from compiler.review.item import Item, Key
from compiler.review.items_stacks import TURN_UNIT
from compiler.review.moved import Moved


def stacks(old: Mapping[Key, Item], new: Mapping[Key, Item]) -> Iterator[Fact]:
    """Callers, ports and slots that come and go, host by host."""
    slots: dict[str, list[int]] = {}
    for key in [*new, *(key for key in old if key not in new)]:
        item = new.get(key) or old[key]
        if item.kind == "allow" and item.what == FIREWALL_ALLOWLIST:
            yield from _callers(item, old.get(key), new.get(key))
        elif item.kind == "reach":
            yield from _reach(item, old.get(key), new.get(key))
        elif item.kind == "slot" and item.presence and (key in old) != (key in new):
            slots.setdefault(item.host, [0, 0])[key in new] += 1
    for host, (gone, come) in slots.items():
        words = [f"{come} slots more" if come > 1 else "one slot more"] * bool(come)
        words += [f"{gone} slots less" if gone > 1 else "one slot less"] * bool(gone)
        yield Fact("capacity", host, ", ".join(words), Decimal(gone), ("slot-", "stack "))


def _callers(item: Item, before: Item | None, after: Item | None) -> Iterator[Fact]:
    """Networks that the packet filter lets through, or no longer."""
    there, here = (found.value.split(", ") if found is not None and found.value else [] for found in (before, after))
    come, gone = [text for text in here if text not in there], [text for text in there if text not in here]
    parts = [f"now {', '.join(come)}"] * bool(come) + [f"no longer {', '.join(gone)}"] * bool(gone)
    if parts:
        text = f"who may call the stack: {'; '.join(parts)}"
        yield Fact("exposure", item.host, text, Decimal(len(come)), (FIREWALL_ALLOWLIST, "stack "))


def _reach(item: Item, before: Item | None, after: Item | None) -> Iterator[Fact]:
    """A port, or a range of them, that others reach in another way. What nobody reaches exposes nothing."""
    was, now = (("", "for", "nobody") if found is None else found.value.partition(" for ") for found in (before, after))
    if was == now or (was[2] == "nobody" and now[2] == "nobody"):
        return
    wider = _ORDER[now[2]] > _ORDER[was[2]] or (now[2] != "nobody" and now[0] != was[0])
    text = f"{item.what}: {_told(now, item.host)}; before {_told(was, item.host)}"
    yield Fact("exposure", item.host, text, Decimal(wider), ("slot-", "stack ", "TURN", "ORCHESTRATOR"))


_ORDER = {"nobody": 0, "callers": 1, "everyone": 2}
"""How many reach a port, for each word of the firewall."""


def _told(found: tuple[str, str, str], host: str) -> str:
    ports, _, reach = found
    if reach == "nobody":
        return "for the host itself at most"
    who = "everyone who reaches the host" if reach == "everyone" else "those on the allowlist"
    return f"port {ports} of {host}, open to {who}"


def with_shared(moved: Moved, deltas: Iterable[Delta], old: Mapping[Key, Item], new: Mapping[Key, Item]) -> Moved:
    """Also the processes of stacks that start again for what they share.

    Secrets of the host reach all of its services, and the settings of TURN reach every slot. A rollout takes both into
    what it compares, though the files of a slot show neither.
    """
    of_host: dict[str, list[str]] = {}
    for key in old.keys() & new.keys():
        if new[key].kind == "slot" and new[key].presence:
            of_host.setdefault(key[1], []).append(new[key].what)
    more: set[Target] = set()
    for item in (part.item for delta in deltas for part in delta.all()):
        if item.kind == "secret" and item.key[2:3] == (AVATAR_DIRECTORY,) and len(item.key) > 4:
            more.add(Target(item.host, f"{AVATAR_DIRECTORY}/{item.key[3]}"))
            more |= {Target(item.host, f"{AVATAR_DIRECTORY}/{slot}") for slot in of_host.get(item.host, ())}
    for target in moved.restarted:
        if target.node == f"{AVATAR_DIRECTORY}/{TURN_UNIT}":
            more |= {Target(target.host, f"{AVATAR_DIRECTORY}/{slot}") for slot in of_host.get(target.host, ())}
    return moved._replace(restarted=moved.restarted | (more - moved.started - moved.stopped))
