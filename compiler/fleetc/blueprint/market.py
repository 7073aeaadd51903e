"""Who can buy what from whom and how long funds last, as text for the page and for reviews.

Made by `lower/market.py`, read by `emit/pages/` and `review/`.
"""

from __future__ import annotations

from typing import NamedTuple

from fleetc.places.origin import Origin


class MarketRow(NamedTuple):
    """One gateway against one offer, as text; `wallet` is the paying one, empty if unknown.

    `verdict` is the outcome without its reasons and numbers.
    """

    gateway: str
    work: str
    orchestrator: str
    asks: str
    pays: str
    outcome: str
    verdict: str
    wallet: str = ""


class MarketSummary(NamedTuple):
    """What one gateway can buy of video or of models: offers by outcome, and the prices of those it buys."""

    gateway: str
    work: str
    offers: int
    within: int
    above: int
    refused: int
    unknown: int
    cheapest: str
    dearest: str


class FundsRow(NamedTuple):
    """The funds of one node, as text; an empty text means not stated."""

    node: str
    wallet: str
    deposit: str
    reserve: str
    load: str
    cost: str
    runway: str


class RunnerRow(NamedTuple):
    """A live runner that an orchestrator sells, and one signer whose clients may buy it, as text.

    `comes_to` is the price for clients, `in_advance` the tickets that a signer pays at once, `earns` the most income of
    an hour. Empty texts are not known; without a signer in the fleet, `signer` is empty.
    """

    runner: str
    orchestrator: str
    asks: str
    comes_to: str
    in_advance: str
    earns: str
    signer: str
    outcome: str
    app: str

    @property
    def shown(self) -> tuple[str, ...]:
        """Its text in tables; a runner's name is enough."""
        return tuple(self)[:-1]


class Assumed(NamedTuple):
    """The market's inputs from the chain: the gas price and its source, and the active set's size."""

    gas_price: str
    origin: Origin
    active_set: int


class MarketTables(NamedTuple):
    """Who can buy what from whom: row by row in a small fleet (`whole`), else a summary of each gateway.

    `rates` are (currency, worth).
    """

    whole: bool = True
    rows: tuple[MarketRow, ...] = ()
    summaries: tuple[MarketSummary, ...] = ()
    funds: tuple[FundsRow, ...] = ()
    rates: tuple[tuple[str, str], ...] = ()
    assumed: Assumed | None = None
    runners: tuple[RunnerRow, ...] = ()
