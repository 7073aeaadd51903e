"""Lowers what a fleet's prices come to: who buys what from whom, and what it pays from. Plain text for reports.

In: a fleet without errors, or one whose errors a rule has reported. Out: a `Market` of plain values. Exact numbers are
settled here: what has no short decimal form is rounded, and says "about".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

from compiler.analysis.acceptance import ELSEWHERE, NOT_ASKED, TOO_DEAR, UNKNOWN, VIDEO, Amount, Decision, Entry, Goods
from compiler.analysis.economics import CELL_GATEWAYS, CELL_OFFERS, Cell, Summary, matrix
from compiler.analysis.funds import Funds, funds
from compiler.model.fleet import Fleet
from compiler.plan import FundsRow, Market, MarketRow, MarketSummary
from compiler.quantities import Price

_ETHER = 10**18


def lower_market(fleet: Fleet) -> Market:
    """The market of a fleet; without rows off-chain, where nobody pays."""
    found = matrix(fleet)
    names: dict[Goods, str] = {VIDEO: "video"}
    for name, model in sorted(fleet.models.items()):
        names.setdefault((model.pipeline, model.id), f"model {name}")
    soft = {name for name, gateway in fleet.gateways.items() if gateway.ignore_max_price_if_needed}
    return Market(
        whole=found.cells is not None,
        gateways=CELL_GATEWAYS,
        offers=CELL_OFFERS,
        rows=tuple(_rows(found.cells or (), names, soft)),
        summaries=tuple(_summary(summary) for summary in found.summaries),
        funds=tuple(_funds(row) for row in funds(fleet)),
        rates=tuple((currency, str(rate)) for currency, rate in sorted(fleet.rates.items())) if fleet.on_chain else (),
    )


def _rows(cells: Iterable[Cell], names: dict[Goods, str], soft: set[str]) -> Iterator[MarketRow]:
    """What a gateway does not ask for is left out."""
    for cell in cells:
        if cell.decision.outcome == NOT_ASKED or cell.offer is None or cell.cap is None:
            continue
        yield MarketRow(
            gateway=cell.gateway,
            work=names[cell.goods],
            orchestrator=cell.orchestrator,
            asks=price_text(cell.offer),
            pays="any price when nobody is cheaper" if cell.gateway in soft else price_text(cell.cap),
            outcome=_outcome(cell.decision, cell.cap),
        )


def _outcome(decision: Decision, cap: Entry) -> str:
    if decision.over is not None:
        return f"{TOO_DEAR} by {number_text(decision.over, 1)} percent"
    if decision.outcome == UNKNOWN and cap.unit == ELSEWHERE:
        return "unknown: the caps are those of a signer elsewhere"
    return "unknown: no rate compares the two currencies" if decision.outcome == UNKNOWN else decision.outcome


def _summary(found: Summary) -> MarketSummary:
    unknown = found.offers - found.within - found.above
    cheapest, dearest = (price_text(entry) if entry else "" for entry in (found.cheapest, found.dearest))
    return MarketSummary(
        found.gateway, found.kind, found.offers, found.within, found.above, unknown, cheapest, dearest
    )  # fmt: skip


def _funds(found: Funds) -> FundsRow:
    deposit, reserve, load = (str(value) if value is not None else "" for value in found[2:5])
    cost = "" if found.cost is None else f"{number_text(found.cost / _ETHER, 18)} ETH"
    runway = "" if found.runway is None else hours_text(found.runway)
    return FundsRow(found.node, found.wallet, deposit, reserve, load, cost, runway)


def price_text(entry: Entry) -> str:
    """A price as written, and what it comes to for a pixel where that is not the same."""
    if entry.price is None:
        return "any price" if entry.unbounded else "what its signer elsewhere pays"
    return _price_text(entry.price, entry.unit, entry.worth)


@lru_cache(maxsize=4096)
def _price_text(price: Price, unit: str, worth: Amount) -> str:
    if unit == price.currency and worth == price.per_pixel:
        return str(price)
    return f"{price} comes to {number_text(Fraction(worth), 9)} {unit} / pixel"


def number_text(number: Fraction, places: int) -> str:
    """A number that is not negative, in decimal digits: exact when it has few enough, else "about" and rounded down."""
    scaled = number * 10**places
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    digits = str(whole).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return f"about {text}" if rest else text


def hours_text(hours: Fraction) -> str:
    """A time span in days, hours and minutes, whole minutes only: "at least" what is left then."""
    minutes, rest = divmod(hours.numerator * 60, hours.denominator)
    days, minutes = divmod(minutes, 24 * 60)
    parts = ((days, "d"), (minutes // 60, "h"), (minutes % 60, "min"))
    text = " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 min"
    return f"at least {text}" if rest else text
