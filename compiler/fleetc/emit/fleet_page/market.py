"""Who buys what from whom, and from which funds, as tables of `FLEET.md`, and the origins of each.

In: the blueprint. Out: a part of the view, and marks of the same shape.
"""

from __future__ import annotations

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.tracing import Marks, Together
from fleetc.places.origin import derived, given


def market_view(blueprint: Blueprint) -> dict[str, object]:
    """Who buys what from whom, and from which funds; an empty text is a value that is not known or not stated."""
    market = blueprint.market
    return {
        "whole_market": market.whole,
        "market_limits": (market.gateways, market.offers),
        "rates": [(word(currency), cell(worth)) for currency, worth in market.rates],
        "assumed": market.assumed and (cell(market.assumed[0]), market.assumed[1].kind, market.assumed[2]),
        "purchases": [
            (cell(r.gateway), cell(r.work), cell(r.orchestrator), cell(r.asks), cell(r.pays), cell(r.outcome))
            for r in market.rows
        ],
        "summaries": [
            (cell(s.gateway), word(s.work), *s[2:7], *[cell(text) if text else "" for text in s[7:]])
            for s in market.summaries
        ],
        "funds": [tuple(cell(text) if text else "" for text in row) for row in market.funds],
    }


def market_marks(blueprint: Blueprint) -> dict[str, Marks]:
    market = blueprint.market
    table_of = {service.name: service.table for host in blueprint.hosts for service in host.services}
    names = [*(row.gateway for row in market.rows), *(row.gateway for row in market.summaries)]
    buyers = Together(given("gateways", name) for name in names)
    assumed = market.assumed.origin if market.assumed else derived("no gateway buys")
    gas = assumed.paths if assumed.kind == "given" else ()
    return {
        "whole_market": buyers,
        "market_limits": buyers,
        "assumed": assumed,
        "rates": [given("rates", currency) for currency, _ in market.rates],
        "purchases": [
            derived(
                "what the gateway pays against what the orchestrator asks",
                ("gateways", row.gateway),
                ("orchestrators", row.orchestrator),
                *([("models", row.work.removeprefix("model "))] if row.work.startswith("model ") else []),
                *([("wallets", row.wallet)] if row.wallet else []),
                *gas,
            )
            for row in market.rows
        ],
        "summaries": [
            derived("what the gateway pays and orchestrators ask", ("gateways", summary.gateway), ("orchestrators",))
            for summary in market.summaries
        ],
        "funds": [
            derived("the wallet of the node and its expected load",
                    (table_of[row.node], row.node), *([("wallets", row.wallet)] if row.wallet else []))
            for row in market.funds
        ],
    }  # fmt: skip
