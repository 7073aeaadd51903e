"""The market as tables of `FLEET.md`: buyers, sellers, prices and funds.

In: the blueprint. Out: a part of the view.
"""

from __future__ import annotations

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.market import FundsRow, MarketRow, MarketSummary, RunnerRow
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.templates import View
from fleetc.emit.traced import Mark, together
from fleetc.places.diagnostic import Path
from fleetc.places.origin import derived, given


def market_view(blueprint: Blueprint, mark: Mark) -> View:
    """Buyers, sellers, prices and funds; an empty text is an unknown value."""
    market = blueprint.market
    table_of = {service.name: service.table for host in blueprint.hosts for service in host.services}
    names = [*(found.gateway for found in market.rows), *(found.gateway for found in market.summaries)]
    buyers = together(given("gateways", name) for name in names)
    assumed = market.assumed
    gas = assumed.origin.paths if assumed and assumed.origin.kind == "given" else ()
    return {
        "whole_market": mark(market.whole, *buyers),
        "market_limits": mark((market.gateways, market.offers), *buyers),
        "rates": [mark((word(name), cell(worth)), given("rates", name)) for name, worth in market.rates],
        "assumed": assumed and mark((cell(assumed.gas_price), assumed.origin.kind, assumed.active_set), assumed.origin),
        "purchases": [_purchase(found, gas, mark) for found in market.rows],
        "summaries": [_summary(found, mark) for found in market.summaries],
        "runner_sales": [_sale(found, mark) for found in market.runners],
        "funds": [_funds(found, table_of[found.node], mark) for found in market.funds],
    }


def _purchase(found: MarketRow, gas: tuple[Path, ...], mark: Mark) -> object:
    origin = derived(
        "what the gateway pays against what the orchestrator asks",
        ("gateways", found.gateway),
        ("orchestrators", found.orchestrator),
        *([("models", found.work.removeprefix("model "))] if found.work.startswith("model ") else []),
        *([("wallets", found.wallet)] if found.wallet else []),
        *gas,
    )
    values = (found.gateway, found.work, found.orchestrator, found.asks, found.pays, found.outcome)
    return mark(tuple(map(cell, values)), origin)


def _sale(found: RunnerRow, mark: Mark) -> object:
    origin = derived(
        "the price of the runner, the tickets of its orchestrator and the cap of the signer",
        ("runners", found.runner, "price"),
        ("orchestrators", found.orchestrator, "ticket_ev"),
        ("rates", "USD"),
        *([("remote_signers", found.signer, "max_price")] if found.signer else []),
    )
    return mark(tuple(map(_known, found.shown)), origin)


def _summary(found: MarketSummary, mark: Mark) -> object:
    origin = derived("what the gateway pays and orchestrators ask", ("gateways", found.gateway), ("orchestrators",))
    counts = (found.offers, found.within, found.above, found.refused, found.unknown)
    prices = (_known(found.cheapest), _known(found.dearest))
    return mark((cell(found.gateway), word(found.work), *counts, *prices), origin)


def _funds(found: FundsRow, table: str, mark: Mark) -> object:
    wallet = [("wallets", found.wallet)] if found.wallet else []
    origin = derived("the wallet of the node and its expected load", (table, found.node), *wallet)
    return mark(tuple(map(_known, found)), origin)


def _known(text: str) -> str:
    return cell(text) if text else ""
