"""What a rule sees of a fleet: the tables of its spec, and tables of what fleetc calculates.

In: a document and its `Fleet`, and the words of the rules. Out: JSON text, which `sandbox/` gives to the rules. Only
views are made that a rule names. All is exact: amounts are integers, passed as digits because some JSON readers round.
Decimals and quantities are text as in the spec. Secrets are references.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction
from typing import Any

from fleetc.analysis import runner_prices
from fleetc.analysis.acceptance import WEI, Scale
from fleetc.analysis.discovery import Search, searches
from fleetc.analysis.economics import matrix
from fleetc.analysis.funds import funds
from fleetc.analysis.listeners import of_host
from fleetc.analysis.prices import all_prices
from fleetc.blueprint.listeners import EVERYONE
from fleetc.language import effective, effective_runners
from fleetc.language.fleet import Fleet
from fleetc.language.node import AiSettings, ChainSettings
from fleetc.language.quantities import Price
from fleetc.language.runner import Runner
from fleetc.places.diagnostic import Path
from fleetc.toml.edits import toml_key
from fleetc.upstream import format_release

TABLES = tuple(Fleet.model_fields)
SINGLE = ("fleet", "rollout", "monitoring", "stream_api", "rates")
"""Tables that are one thing and have no names below them."""
WHOLE = "spec"
"""The word for all tables at once."""

_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")

Columns = dict[str, Any]


def view_of(raw: Mapping[str, Any], fleet: Fleet, words: Collection[str]) -> str:
    """The views of a fleet that some words name, as JSON text."""
    tables = {name: raw.get(name, {}) for name in TABLES if {name, WHOLE} & set(words)}
    listed = {name: make(fleet) for name, make in _LISTED.items() if name in words}
    view: dict[str, Any] = {"tables": tables, "lists": listed}
    if "counts" in words:
        view["counts"] = {"hosts": len(fleet.hosts), "nodes": len(fleet.nodes)}
    if "in_force" in words:
        view["in_force"] = {node.name: _in_force(fleet, node) for node in fleet.nodes}
    return json.dumps(view, default=str)


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
    columns = list(zip(*rows, strict=True))
    return {key: _column(column) for key, column in zip(keys, columns or [() for _ in keys], strict=True)}


def _column(entries: tuple[Any, ...]) -> Any:
    """A column as JSON; a constant one is written once."""
    first = entries[0] if entries else None
    if isinstance(first, list) or len(entries) < 2 or entries.count(first) < len(entries):
        return entries
    return {"all": first, "count": len(entries)}


# --- the lists ------------------------------------------------------------------------------------

FIELDS: Mapping[str, tuple[str, ...]] = {
    "nodes": (
        *("name", "table", "path", "host", "region", "runtime", "release", "image", "runner_image", "wallet"),
        *("cli", "cli_public"),
    ),
    "prices": ("path", "node", "table", "region", "pays", "any", "text", "wei", "pixels", "work", "to"),
    "funds": ("node", "wallet", "path", "deposit", "reserve", "cost_per_hour", "runway_hours"),
    "ports": ("path", "node", "host", "address", "port", "protocol", "purpose", "public"),
    "market": ("path", "gateway", "kind", "offers", "within", "above", "refused"),
    "suppliers": ("path", "gateway", "regions"),
    "runner_offers": (
        *("path", "runner", "orchestrator", "app", "mode", "host", "region", "image", "program", "url", "gpus"),
        *("capacity", "registers", "text", "unit", "nano_usd", "wei", "per"),
    ),
}
"""What an entry of each list has."""

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "prices": ("wei", "pixels"),
    "funds": ("deposit", "reserve", "cost_per_hour", "runway_hours"),
    "runner_offers": ("nano_usd", "wei"),
}
"""Those that are integers of any size."""


def _nodes(fleet: Fleet) -> Columns:
    listeners = _Known(lambda cli: (str(cli), not cli.is_loopback))
    releases = _Known(format_release)
    hosts = {name: (name, host.region or "", host.runtime) for name, host in fleet.hosts.items()}
    image = fleet.fleet.image or ""

    def rows() -> Iterator[tuple[Any, ...]]:
        for table, name, settings in fleet.nodes:
            cli = listeners[settings.cli or effective.CLI_LISTENERS[table]]
            release = releases[settings.node_release or fleet.fleet.node_release]
            host = hosts[settings.host]
            own = (settings.image or image) if host[2] == "docker" else ""
            runner = settings.runner_image if isinstance(settings, AiSettings) else None
            wallet = settings.wallet if isinstance(settings, ChainSettings) else None
            yield (name, table, f"{table}.{name}", *host, release, own, runner, wallet, *cli)

    return _columns("nodes", rows())


def _prices(fleet: Fleet) -> Columns:
    scale = Scale(fleet.rates)

    def amount(price: Price | None) -> tuple[str, str | None, str | None]:
        if price is None:
            return "any", None, None
        unit, worth = scale.of(price)
        exact = Fraction(worth)
        return (str(price), str(exact.numerator), str(exact.denominator)) if unit == WEI else (str(price), None, None)

    amounts, tails = _Known(amount), _Known(dotted)
    regions = {name: host.region or "" for name, host in fleet.hosts.items()}

    def rows() -> Iterator[tuple[Any, ...]]:
        for (table, name, settings), pays, price, path, work, to, _ in all_prices(fleet):
            place = f"{path[0]}.{path[1]}.{tails[path[2:]]}"  # names of tables need no quotes
            yield place, name, table, regions[settings.host], pays, price is None, *amounts[price], work, to

    return _columns("prices", rows())


class _Known(dict[Any, Any]):
    """Answers that are the same for many entries of a list."""

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, key: Any) -> Any:
        self[key] = answer = self._ask(key)
        return answer


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
        for host in sorted(fleet.hosts):
            for one in (one for one in of_host(fleet, host) if one.owner != ("hosts", host)):
                where = (dotted(one.origin.paths[0]), one.name, host, one.address, one.port, one.protocol)
                yield *where, one.purpose, one.reach == EVERYONE

    return _columns("ports", rows())


def _market(fleet: Fleet) -> Columns:
    """What each gateway finds of each kind, video and models: offers by outcome."""

    def rows() -> Iterator[tuple[Any, ...]]:
        for row in matrix(fleet).summaries:
            yield f"gateways.{row.gateway}", row.gateway, row.kind, row.offers, row.within, row.above, row.refused

    return _columns("market", rows())


def _suppliers(fleet: Fleet) -> Columns:
    """The regions of this fleet's orchestrators that each gateway asks; all regions off-chain."""
    regions = {name: fleet.hosts[node.host].region or "" for name, node in fleet.orchestrators.items()}
    shared: dict[tuple[object, ...], list[str]] = {}

    def of(search: Search) -> list[str]:
        key = (search.listed, search.registry, id(search.dropped))
        if key not in shared:
            candidates = regions if search.listed is None and search.registry is None else search.found
            shared[key] = sorted({regions[seller] for seller in candidates if seller not in search.dropped} - {""})
        return shared[key]

    return _columns("suppliers", ((f"gateways.{name}", name, of(search)) for name, search in searches(fleet).items()))


def _runner_offers(fleet: Fleet) -> Columns:
    """Each live runner with its orchestrator, or ""."""
    listed = [(offer.path, offer.name, offer.orchestrator.name) for offer in effective_runners.offers(fleet)]
    offered = {name for _, name, _ in listed}
    listed += [(("runners", name), name, "") for name in sorted(fleet.runners) if name not in offered]
    placed = {runner.name: runner for runner in fleet.placed_runners}

    def rows() -> Iterator[tuple[Any, ...]]:
        for path, name, orchestrator in listed:
            runner = fleet.runners[name]
            host = runner.host or ""
            gpus = effective_runners.gpu_ids(fleet, placed[name]) if name in placed else ()
            yield (
                *(dotted(path), name, orchestrator, runner.app, runner.mode, host),
                (fleet.hosts[host].region or "") if host else "",
                *(runner.image or "", runner.program or "", str(runner.url or "")),
                [gpus] if isinstance(gpus, str) else list(gpus),
                *(runner.capacity or 1, runner.register_by == "runner"),
                *_worth(fleet, runner),
            )

    return _columns("runner_offers", rows())


def _worth(fleet: Fleet, runner: Runner) -> tuple[str, str, str | None, str | None, str]:
    """The price of a runner: as in the spec, the node's unit, billionths of a USD for one, wei for a `per`."""
    if runner.price is None:
        return "", "", None, None, ""
    usd = runner_prices.usd(runner.price, fleet.rates)
    worth = runner_prices.worth(runner.price, fleet.rates)
    unit = runner.price.sold_by.node
    nano = None if usd is None else str(Fraction(usd) * 10**9 // 1)
    return str(runner.price), unit, nano, _digits(None if worth is None else worth.wei), runner_prices.ADVERTISED[unit]


_LISTED: Mapping[str, Callable[[Fleet], Columns]] = {
    "nodes": _nodes,
    "prices": _prices,
    "funds": _funds,
    "ports": _ports,
    "market": _market,
    "suppliers": _suppliers,
    "runner_offers": _runner_offers,
}
