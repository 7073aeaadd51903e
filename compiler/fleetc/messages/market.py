"""The market of a fleet as text for a terminal: buyers, sellers, prices and funds.

In: the `MarketTables` of a blueprint. Out: lists and aligned tables. `cli/` calls it for
`check --explain-prices`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from fleetc.blueprint.market import MarketRow, MarketTables
from fleetc.text.encoders import visible

_SUMMARY = (
    "GATEWAY",
    "WORK",
    "OFFERS",
    "BUYS",
    "TOO EXPENSIVE",
    "REFUSED",
    "UNKNOWN",
    "CHEAPEST IT BUYS",
    "MOST EXPENSIVE IT BUYS",
)
_RUNNERS = (
    "RUNNER",
    "ORCHESTRATOR",
    "ASKS",
    "COMES TO",
    "PAID IN ADVANCE",
    "EARNS IN AN HOUR AT MOST",
    "SIGNER",
    "OUTCOME",
)
_NOBODY = "no gateway of this fleet buys from an orchestrator of this fleet at a price"
_FUNDS = ("NODE", "WALLET", "DEPOSIT", "RESERVE", "EXPECTED LOAD", "COST PER HOUR", "DEPOSIT LASTS")


def as_text(market: MarketTables) -> str:
    """The tables, and what they assume."""
    bought = market.rows or market.summaries
    rates = market.rates if bought or market.funds or market.runners else ()
    lines = [f"1 {currency} = {worth}, according to the spec" for currency, worth in rates]
    lines += [*_pairs(market), *_assumptions(market)] if bought else [_NOBODY]
    if market.runners:
        unknown = ("", "", "", "unknown", "unknown", "unknown", "none of this fleet", "not known")
        sales = ([text or other for text, other in zip(row.shown, unknown, strict=True)] for row in market.runners)
        lines += ["", *_table(_RUNNERS, sales)]
    if market.funds:
        stated = ("", "", "none", "none", "not stated", "unknown", "unknown")
        rows = ([text or other for text, other in zip(row, stated, strict=True)] for row in market.funds)
        lines += ["", *_table(_FUNDS, rows)]
    return "\n".join(lines) + "\n"


def _pairs(market: MarketTables) -> list[str]:
    """A row for each gateway, work and orchestrator, or sums over orchestrators in a large fleet."""
    if market.whole:
        groups = groupby(market.rows, lambda row: (row.gateway, row.work, row.pays))
        return [line for group, rows in groups for line in _sellers(*group, rows)]
    sums = ([*s[:2], *map(str, s[2:7]), *(text or "none" for text in s[7:])] for s in market.summaries)
    return _table(_SUMMARY, sums)


def _sellers(gateway: str, work: str, pays: str, rows: Iterable[MarketRow]) -> list[str]:
    """What one gateway pays at most for one work, and two lines for each orchestrator that offers it."""
    offers = [[visible(text) for text in (row.orchestrator, row.asks, row.outcome)] for row in rows]
    width = max(len(name) for name, _, _ in offers)
    lines = [f"{visible(gateway)} pays at most {visible(pays)} for {visible(work)}:"]
    for name, asks, outcome in offers:
        lines += [f"    {name:<{width}}  {outcome}", f"    {'':<{width}}  asks {asks}"]
    return lines


def _assumptions(market: MarketTables) -> list[str]:
    """What the offers in the table are computed from."""
    if not market.assumed:
        return []
    gas, origin, pool = market.assumed
    source = "gas_price in [fleet]" if origin.kind == "given" else "assumed: [fleet] has no gas_price"
    return [
        "",
        f"Orchestrators add the cost of redeeming a ticket to their price: at {gas} ({source})",
        f"and with {pool} orchestrators that share each reserve (assumed).",
    ]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Columns as wide as their widest text, two blanks apart."""
    table = [heads, *([visible(text) for text in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in table]
