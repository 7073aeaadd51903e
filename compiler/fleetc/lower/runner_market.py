"""Lowers the market of live runners: signers, tickets in advance, income in an hour.

In: a fleet without errors, or with errors that a rule has reported. Out: `RunnerRow`s of plain text.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from fleetc.analysis import runner_prices
from fleetc.analysis.acceptance import Decision
from fleetc.analysis.runner_offers import RunnerDecision, RunnerOffer, decisions, sold
from fleetc.analysis.tickets import SIGNED_NONCES
from fleetc.blueprint.market import RunnerRow
from fleetc.language.fleet import Fleet
from fleetc.lower.market_words import outcome_text

_BY_TIME = ("hour", "720p")


def runner_rows(fleet: Fleet) -> Iterator[RunnerRow]:
    """One row for each offer and each signer that may find it; none off-chain."""
    decided: dict[tuple[str, str], list[RunnerDecision]] = {}
    for decision in decisions(fleet):
        offer = decision.sold.offer
        decided.setdefault((offer.orchestrator.name, offer.name), []).append(decision)
    for one in sold(fleet):
        found = decided.get((one.offer.orchestrator.name, one.offer.name), [])
        for decision in found:
            outcome = outcome_text(Decision(decision.outcome, None, decision.why), decision.until)
            yield _row(fleet, one, decision.signer.name, outcome)
        if not found:
            yield _row(fleet, one, "", "")


def _row(fleet: Fleet, one: RunnerOffer, signer: str, outcome: str) -> RunnerRow:
    worth = one.worth
    tickets = one.in_advance
    return RunnerRow(
        runner=one.offer.name,
        orchestrator=one.offer.orchestrator.name,
        asks=str(one.offer.runner.price),
        comes_to="" if worth is None else f"{worth.wei} wei / {worth.advertised}",
        in_advance="" if tickets is None else f"{tickets} of {SIGNED_NONCES} tickets",
        earns=_earns(fleet, one),
        signer=signer,
        outcome=outcome,
        app=one.offer.runner.app,
    )


def _earns(fleet: Fleet, one: RunnerOffer) -> str:
    """The price of an hour of all sessions; a spec has no rate of requests."""
    runner = one.offer.runner
    if runner.price is None or runner.price.sold_by.node not in _BY_TIME:
        return ""
    hour = runner_prices.usd(runner.price, fleet.rates)
    return "" if hour is None else f"{runner_prices.times(hour, Decimal(runner.capacity or 1)):f} USD"
