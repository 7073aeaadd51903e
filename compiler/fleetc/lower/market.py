"""Lowers the market of a fleet: buyers, sellers, prices and funds. Plain text for reports.

In: a fleet without errors, or with errors that a rule has reported. Out: a `MarketTables` of plain values.
`market_words.py` has how exact numbers become text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleetc.analysis.acceptance import NOT_WANTED, VIDEO, Goods
from fleetc.analysis.discovery import ELSEWHERE, NOT_LISTED
from fleetc.analysis.economics import Cell, Summary, market_of, matrix
from fleetc.analysis.funds import Funds, funds
from fleetc.blueprint.market import Assumed, FundsRow, MarketRow, MarketSummary, MarketTables
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import WEI_IN_ETHER
from fleetc.language.signing import payer
from fleetc.lower.market_words import hours_text, number_text, outcome_text, price_text
from fleetc.lower.runner_market import runner_rows
from fleetc.upstream import ACTIVE_SET


def lower_market(fleet: Fleet) -> MarketTables:
    """The market of a fleet; without rows off-chain."""
    found = matrix(fleet)
    names: dict[Goods, str] = {VIDEO: "video"}
    for name, model in sorted(fleet.models.items()):
        names.setdefault((model.pipeline, model.id), f"model {name}")
    gas = effective.gas_price(fleet)
    return MarketTables(
        whole=found.cells is not None,
        rows=tuple(_rows(fleet, found.cells or (), names)),
        summaries=tuple(_summary(summary) for summary in found.summaries),
        funds=tuple(_funds(row) for row in funds(fleet)),
        rates=tuple((currency, str(rate)) for currency, rate in sorted(fleet.rates.items())) if fleet.on_chain else (),
        assumed=Assumed(str(gas.value), gas.origin, ACTIVE_SET),
        runners=tuple(runner_rows(fleet)),
    )


def _rows(fleet: Fleet, cells: Iterable[Cell], names: dict[Goods, str]) -> Iterator[MarketRow]:
    """The cells of a gateway, without the goods that it does not ask for and those whom it does not look for."""
    for cell in cells:
        gateway = fleet.gateways[cell.gateway]
        if cell.decision.why in (NOT_WANTED, NOT_LISTED, ELSEWHERE) or cell.offer is None:
            continue
        yield MarketRow(
            gateway=cell.gateway,
            work=names[cell.goods],
            orchestrator=cell.orchestrator,
            asks=price_text(cell.offer),
            pays="any price when nobody is cheaper" if gateway.ignore_max_price_if_needed else price_text(cell.cap),
            outcome=outcome_text(cell.decision, market_of(fleet).until(cell)),
            wallet=_wallet(payer(fleet, Node("gateways", cell.gateway, gateway))),
            verdict=cell.decision.outcome,
        )


def _wallet(paying: Node | None) -> str:
    return getattr(paying.settings, "wallet", None) or "" if paying is not None else ""


def _summary(found: Summary) -> MarketSummary:
    unknown = found.offers - found.within - found.above - found.refused
    bought = found.dearest if found.within else None
    cheapest, dearest = (price_text(entry) if entry else "" for entry in (found.cheapest, bought))
    return MarketSummary(
        found.gateway, found.kind, found.offers, found.within, found.above, found.refused, unknown, cheapest, dearest
    )  # fmt: skip


def _funds(found: Funds) -> FundsRow:
    deposit, reserve, video = (str(value) if value is not None else "" for value in found[2:5])
    load = ", ".join(filter(None, (video, *(f"{name}: {load}" for name, load in found.runners))))
    cost = "" if found.cost is None else f"{number_text(found.cost / WEI_IN_ETHER, 18)} ETH"
    runway = "" if found.runway is None else hours_text(found.runway)
    return FundsRow(found.node, found.wallet, deposit, reserve, load, cost, runway)
