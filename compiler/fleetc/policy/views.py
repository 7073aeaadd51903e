"""What a rule sees of a fleet: the tables of its spec, and tables of what fleetc calculates.

In: a document and its `Fleet`, and the words of the rules. Out: JSON text, which `sandbox/` gives to the rules. Only
views are made that a rule names. Everything is exact: amounts are integers, as text of digits on the way, because JSON
has readers that round; decimals and quantities of the spec are text as the spec has them. Secrets are references.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from fleetc.analysis.acceptance import WEI, Scale
from fleetc.analysis.economics import market_of, matrix
from fleetc.analysis.funds import funds
from fleetc.analysis.prices import all_prices
from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.node import ChainSettings
from fleetc.places.diagnostic import Path
from fleetc.toml.edits import toml_key
from fleetc.upstream import format_release

TABLES = tuple(Fleet.model_fields)
SINGLE = ("fleet", "rollout", "monitoring", "stream_api", "rates")
"""Tables that are one thing and have no names below them."""
WHOLE = "spec"
"""The word for all tables at once."""

_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")

Columns = dict[str, list[Any]]


def view_of(raw: Mapping[str, Any], fleet: Fleet, words: Collection[str]) -> str:
    """The views of a fleet that some words name, as JSON text."""
    tables = {name: raw.get(name, [] if name == "silence" else {}) for name in TABLES if {name, WHOLE} & set(words)}
    listed = {name: make(fleet) for name, make in _LISTED.items() if name in words}
    found: dict[str, Any] = {"tables": tables, "lists": listed}
    if "in_force" in words:
        found["in_force"] = {node.name: _in_force(fleet, node) for node in fleet.nodes}
    return json.dumps(found, default=str)


def _in_force(fleet: Fleet, node: Any) -> dict[str, str]:
    return {field: str(chosen.value) for field, chosen in effective.in_force(fleet, node).items()}


def dotted(path: Path) -> str:
    """A key path as the text of a place."""
    plain = ".".join(map(str, path))
    if plain.count(".") == len(path) - 1 and _PLAIN.fullmatch(plain):
        return plain
    return ".".join(toml_key(part) if isinstance(part, str) else str(part) for part in path)


def _columns(name: str, rows: Iterator[tuple[Any, ...]]) -> Columns:
    keys = FIELDS[name]
    found = list(map(list, zip(*rows, strict=True)))
    return dict(zip(keys, found or [[] for _ in keys], strict=True))


# --- the lists ------------------------------------------------------------------------------------

FIELDS: Mapping[str, tuple[str, ...]] = {
    "nodes": ("name", "table", "path", "host", "region", "runtime", "release", "image", "wallet", "cli", "cli_public"),
    "prices": ("path", "node", "table", "region", "pays", "any", "text", "wei", "pixels", "work", "to"),
    "funds": ("node", "wallet", "path", "deposit", "reserve", "cost_per_hour", "runway_hours"),
    "ports": ("path", "node", "host", "address", "port", "protocol", "purpose", "public"),
    "market": ("path", "gateway", "kind", "offers", "within", "above", "refused", "regions"),
}
"""What an entry of each list has."""

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "prices": ("wei", "pixels"),
    "funds": ("deposit", "reserve", "cost_per_hour", "runway_hours"),
}
"""Those of them that are integers of any size."""


def _nodes(fleet: Fleet) -> Columns:
    reach: dict[str, bool] = {}

    def rows() -> Iterator[tuple[Any, ...]]:
        for node in fleet.nodes:
            settings = node.settings
            host = fleet.hosts[settings.host]
            cli = effective.cli_listener(node).value
            if cli.host not in reach:
                reach[cli.host] = not cli.is_loopback
            wallet = settings.wallet if isinstance(settings, ChainSettings) else None
            image = (settings.image or fleet.fleet.image or "") if host.runtime == "docker" else ""
            yield (
                *(node.name, node.table, dotted(node.path), settings.host, host.region or "", host.runtime),
                *(format_release(effective.release_of(fleet, node).value), image, wallet, str(cli), reach[cli.host]),
            )

    return _columns("nodes", rows())


def _prices(fleet: Fleet) -> Columns:
    scale = Scale(fleet.rates)
    texts: dict[Any, tuple[str, str | None, str | None]] = {None: ("any", None, None)}

    def rows() -> Iterator[tuple[Any, ...]]:
        for found in all_prices(fleet):
            price, node = found.price, found.node
            if price not in texts:
                assert price is not None  # noqa: S101  # that one is there
                unit, worth = scale.of(price)
                exact = Fraction(worth) if unit == WEI else None
                worth_of = (None, None) if exact is None else (str(exact.numerator), str(exact.denominator))
                texts[price] = (str(price), *worth_of)
            region = fleet.hosts[node.settings.host].region or ""
            place = (dotted(found.path), node.name, node.table, region)
            yield (*place, found.pays, price is None, *texts[price], found.work, found.to)

    return _columns("prices", rows())


def _digits(number: int | None) -> str | None:
    return None if number is None else str(number)


def _funds(fleet: Fleet) -> Columns:
    def rows() -> Iterator[tuple[Any, ...]]:
        for row in funds(fleet):
            deposit = None if row.deposit is None else row.deposit.wei
            reserve = None if row.reserve is None else row.reserve.wei
            cost = None if row.cost is None else -(-row.cost.numerator // row.cost.denominator)
            runway = None if row.runway is None else row.runway.numerator // row.runway.denominator
            amounts = map(_digits, (deposit, reserve, cost, runway))
            yield row.node, row.wallet, dotted(("wallets", row.wallet)), *amounts

    return _columns("funds", rows())


def _ports(fleet: Fleet) -> Columns:
    def rows() -> Iterator[tuple[Any, ...]]:
        for node in fleet.nodes:
            for port in effective.bound_ports(fleet, node):
                public = port.address not in ("127.0.0.1", "::1", "localhost")
                place = port.origin.paths[0] if port.origin.paths else node.path
                yield (
                    *(dotted(place), node.name, node.settings.host, port.address, port.port, port.protocol),
                    *(port.purpose, public),
                )

    return _columns("ports", rows())


def _market(fleet: Fleet) -> Columns:
    """What each gateway finds of each kind. Its regions are those of the orchestrators that it asks."""
    if not fleet.on_chain:
        return _columns("market", iter(()))
    market = market_of(fleet)
    regions = {name: fleet.hosts[node.host].region or "" for name, node in fleet.orchestrators.items()}
    shared: dict[str | None, list[str]] = {}

    def of(name: str) -> list[str]:
        listed, blocked = market.listed(name), market.blocked(name)
        if listed is None and not blocked:
            registry = market.searched(name)
            if registry not in shared:
                sellers = [seller for seller in regions if market.found_in(registry, seller)]
                shared[registry] = _regions(regions, sellers)
            return shared[registry]
        return _regions(regions, (seller for seller in listed or regions if market.asks(name, seller)))

    def rows() -> Iterator[tuple[Any, ...]]:
        for row in matrix(fleet).summaries:
            path = dotted(("gateways", row.gateway))
            yield path, row.gateway, row.kind, row.offers, row.within, row.above, row.refused, of(row.gateway)

    return _columns("market", rows())


def _regions(regions: Mapping[str, str], sellers: Iterable[str]) -> list[str]:
    return sorted({regions[seller] for seller in sellers} - {""})


_LISTED: Mapping[str, Callable[[Fleet], Columns]] = {
    "nodes": _nodes,
    "prices": _prices,
    "funds": _funds,
    "ports": _ports,
    "market": _market,
}
