"""What the spec plans for numbers that nodes say back, so that an alert tells when one is another.

In: a fleet and the nodes whose metrics are read. Out: `Alike`s, the nodes of each planned value. Called by `scope.py`.
Where most nodes have one value, its matcher names the others, so the rules of a large fleet stay short and another node
of the usual kind changes none. What depends on a rate of exchange is not judged.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import NamedTuple

from fleetc.analysis.prices import base_price, prices_of
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer, Gateway
from fleetc.language.node import ChainSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Price
from fleetc.language.signing import talks_to_chain
from fleetc.lower.promql import PromQL
from fleetc.places.diagnostic import Path
from fleetc.upstream import FLAGS, format_release

_GWEI = 10**9
_HIGHEST_OVERHEAD = 2
"""An orchestrator asks at most twice its price up to a gas price of 3 gwei, because no ticket is smaller than that."""
_CUT = 1000
"""It cuts a price to this part of a wei."""


class Want(NamedTuple):
    """What a node is planned to say: a text that names it, and what expressions compare with."""

    text: str
    amounts: Mapping[str, Decimal] = {}
    words: Mapping[str, str] = {}


class Alike(NamedTuple):
    """The nodes of which the spec wants the same. `nodes` is the matcher of their label `node`."""

    want: Want
    nodes: PromQL
    paths: tuple[Path, ...]


Wanted = Callable[[Fleet, Node], Want | None]


def alike(fleet: Fleet, nodes: Iterable[Node], wanted: Wanted) -> Iterator[Alike]:
    """The nodes of each wanted value, sorted by its text; those of which nothing is wanted are in none.

    `nodes` are all that serve the metric in question, unless the expression rules them out by their role.
    """
    names: list[str] = []
    groups: dict[str, tuple[Want, list[Node]]] = {}
    for node in nodes:
        names.append(node.name)
        want = wanted(fleet, node)
        if want is not None:
            groups.setdefault(want.text, (want, []))[1].append(node)
    for _, (want, own) in sorted(groups.items()):
        yield Alike(want, _matcher([node.name for node in own], names), tuple(node.path for node in own))


def _matcher(own: Sequence[str], names: Sequence[str]) -> PromQL:
    """The shorter one of two. A name has letters, digits and hyphens alone, so it needs no escape."""
    sign, named = ("=~", set(own)) if 2 * len(own) <= len(names) else ("!~", {*names}.difference(own))
    return PromQL(f"node{sign}'{'|'.join(sorted(named))}'")


def _number(text: str, amount: Fraction | int) -> Want:
    exact = Fraction(amount)
    return Want(text, {"planned": Decimal(exact.numerator) / Decimal(exact.denominator)})


# --- what is wanted of a node -----------------------------------------------------------------------


def release(fleet: Fleet, node: Node) -> Want | None:
    """Its release, and a pattern of what a build of it calls itself: with a commit, or without."""
    text = format_release(effective.release_of(fleet, node).value)
    build = rf"{re.escape(text.removeprefix('v'))}(-[0-9a-f]{{6,40}}(-dirty)?)?"
    return Want(text, words={"build": build})


def session_limit(fleet: Fleet, node: Node) -> Want | None:
    """How many video sessions it takes; nothing where that follows from its transcoders."""
    settings = node.settings
    if not isinstance(settings, Gateway | Orchestrator) or settings.max_sessions == "auto":
        return None
    limit = int(settings.max_sessions or FLAGS["maxSessions"].default)
    return _number(str(limit), limit)


def transcoders(fleet: Fleet, node: Node) -> Want | None:
    """How many transcoders of the fleet work for an orchestrator."""
    count = sum(one.orchestrator == node.name for one in fleet.transcoders.values())
    return _number(str(count), count) if node.table == "orchestrators" and count else None


def cap(fleet: Fleet, node: Node) -> Want | None:
    """The most that it pays for video in wei per pixel; 0 where it pays any price, as it then says nothing."""
    base = base_price(fleet, node)
    if not isinstance(node.settings, Buyer) or not talks_to_chain(fleet, node) or base is None:
        return None
    if base.price is None:
        return _number("any price", 0)
    return _number(str(base.price), _worth(base.price)) if base.price.currency == "wei" else None


def asked(fleet: Fleet, node: Node) -> Want | None:
    """Between which prices an orchestrator tells its own, whoever asks, in wei per pixel."""
    settings = node.settings
    if not isinstance(settings, Orchestrator) or not talks_to_chain(fleet, node):
        return None
    prices = [one.price for one in prices_of(fleet, node) if one.at < 0 and not one.work and one.price is not None]
    if not prices or any(price.currency != "wei" for price in prices):
        return None
    factor = 1 if settings.auto_adjust_price is False else _HIGHEST_OVERHEAD
    ordered = sorted(prices, key=_worth)
    low, high = Fraction(floor(_worth(ordered[0]) * _CUT), _CUT), _worth(ordered[-1]) * factor
    amounts = {
        name: Decimal(worth.numerator) / Decimal(worth.denominator) for name, worth in (("low", low), ("high", high))
    }
    names = " to ".join(dict.fromkeys((str(ordered[0]), str(ordered[-1]))))
    return Want(names if factor > 1 else f"{names} without adjustment", amounts)


def lowest_gas_price(fleet: Fleet, node: Node) -> Want | None:
    """The gas price that it never goes below, in gwei."""
    if not isinstance(node.settings, ChainSettings) or not talks_to_chain(fleet, node):
        return None
    return _gas_price(effective.min_gas_price(fleet, node.settings))


def highest_gas_price(fleet: Fleet, node: Node) -> Want | None:
    """The highest gas price that it pays, in gwei; 0 where nothing limits it, as it then says nothing."""
    if not isinstance(node.settings, ChainSettings) or not talks_to_chain(fleet, node):
        return None
    most = node.settings.max_gas_price
    return _gas_price(most.wei) if most is not None else _number("no limit", 0)


def _gas_price(wei: int) -> Want:
    gwei = Fraction(wei, _GWEI)
    return _number(f"{Decimal(gwei.numerator) / Decimal(gwei.denominator):f} gwei", gwei)


def _worth(price: Price) -> Fraction:
    return Fraction(price.amount) / price.pixels


# --- who lists whom ---------------------------------------------------------------------------------


class Listed(NamedTuple):
    """Gateways that buy from the same list of orchestrators of the fleet."""

    gateways: tuple[str, ...]
    orchestrators: tuple[str, ...]
    paths: tuple[Path, ...]


def lists(fleet: Fleet, nodes: Iterable[Node]) -> Iterator[Listed]:
    """The lists whose orchestrators all are read here and ask the same of everybody, each with its gateways."""
    named = {node.name: node.settings for node in nodes if isinstance(node.settings, Orchestrator)}
    found: defaultdict[tuple[str, ...], list[Node]] = defaultdict(list)
    for node in nodes:
        listed = node.settings.orchestrators if isinstance(node.settings, Gateway) else ()
        known = all(name in named and not named[name].gateway_prices for name in listed)
        if listed and known and effective.serves_video(node) and talks_to_chain(fleet, node):
            found[tuple(sorted(set(listed)))].append(node)
    for orchestrators, gateways in sorted(found.items()):
        paths = tuple((*node.path, "orchestrators") for node in gateways)
        yield Listed(tuple(sorted(node.name for node in gateways)), orchestrators, paths)
