"""The planned values of numbers that nodes report, for alerts on differences.

In: a fleet and its monitored nodes. Out: `Alike`s, the nodes of each planned value. Called by `scope.py`. If most nodes
share a value, its matcher names the others. So rules stay short, and one more usual node changes none. What depends on
a rate of exchange is not judged.
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
    """A planned value: its name, origin, and number for expressions."""

    text: str
    paths: tuple[Path, ...]
    amounts: Mapping[str, Decimal] = {}
    words: Mapping[str, str] = {}


class Alike(NamedTuple):
    """The nodes with the same planned value. `nodes` matches their label `node`, `paths` are where they get it."""

    want: Want
    nodes: PromQL
    paths: tuple[Path, ...]


Wanted = Callable[[Fleet, Node], Want | None]


def alike(fleet: Fleet, nodes: Iterable[Node], wanted: Wanted) -> Iterator[Alike]:
    """The nodes of each planned value; nodes without one are in none.

    `nodes` are all that serve the metric in question, unless the expression rules them out by their role. Values are in
    the order of their first node, so another value of one node leaves the others where they are.
    """
    names: list[str] = []
    groups: dict[str, list[tuple[str, Want]]] = {}
    for node in nodes:
        names.append(node.name)
        want = wanted(fleet, node)
        if want is not None:
            groups.setdefault(want.text, []).append((node.name, want))
    for own in groups.values():
        paths = dict.fromkeys(path for _, want in own for path in want.paths)
        yield Alike(own[0][1], _matcher([name for name, _ in own], names), tuple(paths))


def _matcher(own: Sequence[str], names: Sequence[str]) -> PromQL:
    """The shorter one of two. A name has letters, digits and hyphens alone, so it needs no escape."""
    sign, named = ("=~", set(own)) if 2 * len(own) <= len(names) else ("!~", {*names}.difference(own))
    return PromQL(f"node{sign}'{'|'.join(sorted(named))}'")


def _number(text: str, amount: Fraction | int, *paths: Path) -> Want:
    return Want(text, paths, {"planned": _decimal(Fraction(amount))})


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _field(node: Node, name: str) -> Path:
    """Where the spec has a field of a node: the node itself where it is left out."""
    return (*node.path, name) if name in node.settings.model_fields_set else node.path


# --- what is wanted of a node -----------------------------------------------------------------------


def release(fleet: Fleet, node: Node) -> Want | None:
    """Its release, and a pattern of what a build of it calls itself: with a commit, or without."""
    chosen = effective.release_of(fleet, node)
    text = format_release(chosen.value)
    build = rf"{re.escape(text.removeprefix('v'))}(-[0-9a-f]{{6,40}}(-dirty)?)?"
    return Want(text, chosen.origin.paths, words={"build": build})


def session_limit(fleet: Fleet, node: Node) -> Want | None:
    """How many video sessions it takes; nothing where that follows from its transcoders."""
    settings = node.settings
    if not isinstance(settings, Gateway | Orchestrator) or settings.max_sessions == "auto":
        return None
    limit = int(settings.max_sessions or FLAGS["maxSessions"].default)
    return _number(str(limit), limit, _field(node, "max_sessions"))


def transcoders(fleet: Fleet, node: Node) -> Want | None:
    """How many transcoders of the fleet work for an orchestrator."""
    own = [
        ("transcoders", name, "orchestrator")
        for name, one in fleet.transcoders.items()
        if one.orchestrator == node.name and effective.out_of(fleet, Node("transcoders", name, one)) is None
    ]
    return _number(str(len(own)), len(own), *own) if node.table == "orchestrators" and own else None


def cap(fleet: Fleet, node: Node) -> Want | None:
    """The most that it pays for video in wei per pixel; 0 if it pays any price, which it does not report."""
    base = base_price(fleet, node)
    if not isinstance(node.settings, Buyer) or not talks_to_chain(fleet, node) or base is None:
        return None
    if base.price is None:
        return _number("any price", 0, base.path)
    return _number(str(base.price), _worth(base.price), base.path) if base.price.currency == "wei" else None


def asked(fleet: Fleet, node: Node) -> Want | None:
    """The range of an orchestrator's prices, in wei per pixel."""
    settings = node.settings
    if not isinstance(settings, Orchestrator) or not talks_to_chain(fleet, node):
        return None
    found = [(one.price, one.path) for one in prices_of(fleet, node) if one.at < 0 and not one.work]
    prices = sorted((price for price, _ in found if price is not None), key=_worth)
    if not prices or any(price.currency != "wei" for price in prices):
        return None
    names = " to ".join(dict.fromkeys((str(prices[0]), str(prices[-1]))))
    low, high = Fraction(floor(_worth(prices[0]) * _CUT), _CUT), _worth(prices[-1])
    if settings.auto_adjust_price is False:
        names += " without adjustment"
    else:
        high *= _HIGHEST_OVERHEAD
    return Want(names, tuple(path for _, path in found), {"low": _decimal(low), "high": _decimal(high)})


def lowest_gas_price(fleet: Fleet, node: Node) -> Want | None:
    """The gas price that it never goes below, in gwei."""
    if not isinstance(node.settings, ChainSettings) or not talks_to_chain(fleet, node):
        return None
    return _gas_price(effective.min_gas_price(fleet, node.settings), _field(node, "min_gas_price"))


def highest_gas_price(fleet: Fleet, node: Node) -> Want | None:
    """The highest gas price that it pays, in gwei; 0 without a limit, which it does not report."""
    if not isinstance(node.settings, ChainSettings) or not talks_to_chain(fleet, node):
        return None
    most, path = node.settings.max_gas_price, _field(node, "max_gas_price")
    return _gas_price(most.wei, path) if most is not None else _number("no limit", 0, path)


def _gas_price(wei: int, path: Path) -> Want:
    gwei = Fraction(wei, _GWEI)
    return _number(f"{_decimal(gwei):f} gwei", gwei, path)


def _worth(price: Price) -> Fraction:
    return Fraction(price.amount) / price.pixels


# --- who lists whom ---------------------------------------------------------------------------------


class Listed(NamedTuple):
    """Gateways that buy from the same list of orchestrators of the fleet."""

    gateways: tuple[str, ...]
    orchestrators: tuple[str, ...]
    paths: tuple[Path, ...]


def lists(fleet: Fleet, nodes: Iterable[Node]) -> Iterator[Listed]:
    """The lists whose orchestrators are all monitored and have one price for everybody, each with its gateways."""
    named = {node.name: node.settings for node in nodes if isinstance(node.settings, Orchestrator)}
    found: defaultdict[tuple[str, ...], list[Node]] = defaultdict(list)
    away = {node.name for node in fleet.nodes if effective.out_of(fleet, node) is not None}
    for node in nodes:
        listed = node.settings.orchestrators if isinstance(node.settings, Gateway) else ()
        listed = tuple(name for name in listed if name not in away)
        known = all(name in named and not named[name].gateway_prices for name in listed)
        if listed and known and effective.serves_video(node) and talks_to_chain(fleet, node):
            found[tuple(sorted(set(listed)))].append(node)
    for orchestrators, gateways in sorted(found.items()):
        paths = tuple((*node.path, "orchestrators") for node in gateways)
        yield Listed(tuple(sorted(node.name for node in gateways)), orchestrators, paths)
