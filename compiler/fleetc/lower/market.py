"""Lowers the market of a fleet: who buys what from whom, and with which funds. Plain text for reports.

In: a fleet without errors, or one whose errors a rule has reported. Out: a `MarketTables` of plain values. Exact
numbers become text here: what has no short decimal form is rounded, and says "about".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

from fleetc.analysis.acceptance import BUYS, NOT_ASKED, VIDEO, Decision, Goods, PriceEntry, gas_below
from fleetc.analysis.economics import CELL_GATEWAYS, CELL_OFFERS, Cell, Summary, market_of, matrix
from fleetc.analysis.funds import Funds, funds
from fleetc.analysis.tickets import Amount
from fleetc.blueprint.market import Assumed, FundsRow, MarketRow, MarketSummary, MarketTables
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import WEI_IN_ETHER, Price
from fleetc.language.signing import payer
from fleetc.lower.runner_market import runner_rows
from fleetc.upstream import ACTIVE_SET


def lower_market(fleet: Fleet) -> MarketTables:
    """The market of a fleet; without rows off-chain, where nobody pays."""
    found = matrix(fleet)
    names: dict[Goods, str] = {VIDEO: "video"}
    for name, model in sorted(fleet.models.items()):
        names.setdefault((model.pipeline, model.id), f"model {name}")
    gas = effective.gas_price(fleet)
    return MarketTables(
        whole=found.cells is not None,
        gateways=CELL_GATEWAYS,
        offers=CELL_OFFERS,
        rows=tuple(_rows(fleet, found.cells or (), names)),
        summaries=tuple(_summary(summary) for summary in found.summaries),
        funds=tuple(_funds(row) for row in funds(fleet)),
        rates=tuple((currency, str(rate)) for currency, rate in sorted(fleet.rates.items())) if fleet.on_chain else (),
        assumed=Assumed(str(gas.value), gas.origin, ACTIVE_SET),
        runners=tuple(runner_rows(fleet)),
    )


def _rows(fleet: Fleet, cells: Iterable[Cell], names: dict[Goods, str]) -> Iterator[MarketRow]:
    """The cells of a gateway, without the goods that it does not ask for."""
    for cell in cells:
        gateway = fleet.gateways[cell.gateway]
        if cell.decision.outcome == NOT_ASKED or cell.offer is None or cell.cap is None:
            continue
        yield MarketRow(
            gateway=cell.gateway,
            work=names[cell.goods],
            orchestrator=cell.orchestrator,
            asks=price_text(cell.offer),
            pays="any price when nobody is cheaper" if gateway.ignore_max_price_if_needed else price_text(cell.cap),
            outcome=outcome_text(cell.decision, market_of(fleet).until(cell)),
            wallet=_wallet(payer(fleet, Node("gateways", cell.gateway, gateway))),
        )


def _wallet(paying: Node | None) -> str:
    return getattr(paying.settings, "wallet", None) or "" if paying is not None else ""


def outcome_text(decision: Decision, until: int | None) -> str:
    """The outcome for two nodes, with the gas price in wei below which they trade."""
    text = decision.outcome
    if decision.over is not None:
        text += f" by {percent_text(decision.over)} percent"
    if decision.why:
        text += f": {decision.why}"
    if until is None:
        return text
    return f"{text}{'' if decision.outcome == BUYS else '; buys'} while gas is below {gas_below(until)}"


def _summary(found: Summary) -> MarketSummary:
    unknown = found.offers - found.within - found.above - found.refused
    cheapest, dearest = (price_text(entry) if entry else "" for entry in (found.cheapest, found.dearest))
    return MarketSummary(
        found.gateway, found.kind, found.offers, found.within, found.above, found.refused, unknown, cheapest, dearest
    )  # fmt: skip


def _funds(found: Funds) -> FundsRow:
    deposit, reserve, video = (str(value) if value is not None else "" for value in found[2:5])
    load = ", ".join(filter(None, (video, *(f"{name}: {load}" for name, load in found.runners))))
    cost = "" if found.cost is None else f"{number_text(found.cost / WEI_IN_ETHER, 18)} ETH"
    runway = "" if found.runway is None else hours_text(found.runway)
    return FundsRow(found.node, found.wallet, deposit, reserve, load, cost, runway)


def price_text(entry: PriceEntry) -> str:
    """A price as written, and its worth per pixel if that differs; an offer as it is sent."""
    if entry.price is None:
        return "any price" if entry.unbounded else "what its signer elsewhere pays"
    return _price_text(entry.price, entry.unit, entry.worth if entry.sent is None else entry.sent)


@lru_cache(maxsize=4096)
def _price_text(price: Price, unit: str, worth: Amount) -> str:
    if unit == price.currency and worth == price.per_pixel:
        return str(price)
    if unit == price.currency and price.pixels > 1:
        return f"{price} comes to {number_text(Fraction(worth * price.pixels), 9)} {unit}"
    return f"{price} comes to {number_text(Fraction(worth), 9)} {unit} / pixel"


def number_text(number: Fraction, places: int) -> str:
    """A non-negative number in decimal digits: exact if it has few enough, else "about" and rounded down."""
    scaled = number * 10**places
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    digits = str(whole).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return f"about {text}" if rest else text


def percent_text(percent: Fraction) -> str:
    """A non-negative percentage, rounded half up to a tenth, below one to two digits: never 0 for a change."""
    places = 1
    while 0 < percent < 1 and percent * 10**places < 10:
        places += 1
    if places > _FINEST:
        return f"less than {number_text(Fraction(1, 10**_FINEST), _FINEST)}"
    return number_text(Fraction(math.floor(percent * 10**places + Fraction(1, 2)), 10**places), places)


_FINEST = 6
"""The most digits after the decimal point of a percentage."""


def hours_text(hours: Fraction) -> str:
    """A time span in days, hours and whole minutes: at least this much is left."""
    minutes, rest = divmod(hours.numerator * 60, hours.denominator)
    days, minutes = divmod(minutes, 24 * 60)
    parts = ((days, "d"), (minutes // 60, "h"), (minutes % 60, "min"))
    text = " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 min"
    return f"at least {text}" if rest else text
