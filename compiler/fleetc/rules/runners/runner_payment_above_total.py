"""A signer allows less for one payment than a live runner takes in advance.

Why: a signer pays in advance for 10 seconds, for 60 seconds of 720p video, or for one request. It signs no payment
above tickets.max_total_ev (20000 gwei by default). A higher ticket_ev of the orchestrator makes fewer tickets of it,
not less. So it refuses every client, and the orchestrator logs nothing. If no signer of the fleet may find the runner,
the default limit counts.

Example:

    [rates]
    USD = "0.0004 ETH"

    [remote_signers.signer]
    buys_runners = ["sd3"]

    [orchestrators.orch]
    runners = ["sd3"]
    ticket_ev = "1000 gwei"

    [runners.sd3]
    price = "0.10 USD / request"

Instead:

    [rates]
    USD = "0.0004 ETH"

    [remote_signers.signer]
    buys_runners = ["sd3"]
    tickets = { max_total_ev = "50000 gwei" }

    [orchestrators.orch]
    runners = ["sd3"]
    ticket_ev = "1000 gwei"

    [runners.sd3]
    price = "0.10 USD / request"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import runner_prices, tickets
from fleetc.analysis.acceptance import chain_of
from fleetc.analysis.payments import bound, limits_for, unasked
from fleetc.analysis.runner_offers import TOTAL_TOO_LOW, backing_of_clients, decisions, refusal_of, sold
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Wei
from fleetc.language.signer import Signer
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each signer and each runner that its clients may find, at the rate of the spec."""
    for decision in decisions(fleet):
        node, one = decision.signer, decision.sold
        if decision.why != TOTAL_TOO_LOW or one.in_advance is None or not isinstance(node.settings, Signer):
            continue
        offer, seller, takes = one.offer, one.offer.orchestrator.name, one.in_advance * one.ticket_ev
        most = backing_of_clients(fleet, node).max_total_ev or 0
        rounded = " and what the node rounds up" if takes == most else ""
        yield (error if offer.name in node.settings.buys_runners else warning)(
            "runner-payment-above-total",
            f"clients of signer {node.name} cannot pay for runner {offer.name} at {seller}: that takes "
            f"{Wei(takes)}{rounded} in advance, and the signer allows {Wei(most)} for one payment",
            Label((*offer.of_runner, "price")),
            [bound(fleet, node.path, "max_total_ev", most), Label(("rates", "USD"), "the rate")],
            f"write {limits_for(fleet, node, one.ticket_ev, one.in_advance)} or more in remote_signers.{node.name}, "
            "or a lower price",
        )
    yield from _of_strangers(fleet)


def _of_strangers(fleet: Fleet) -> Iterator[Diagnostic]:
    """Runners that only signers elsewhere may find, for one with default settings."""
    unnamed, chain = unasked(fleet), chain_of(fleet)
    backing = tickets.STRANGER._replace(nonces=tickets.SIGNED_NONCES)
    for one in sold(fleet):
        offer, seller, price = one.offer, one.offer.orchestrator.name, one.offer.runner.price
        refused = seller in unnamed and one.worth is not None and not one.worth.refusal and one.payable
        if not refused or refusal_of(one, backing, chain) != TOTAL_TOO_LOW:
            continue
        assert price is not None and one.worth is not None and backing.max_total_ev is not None  # noqa: S101  # sold
        takes = (one.in_advance or 0) * one.ticket_ev
        most = (backing.max_total_ev - 1) // one.ticket_ev * one.ticket_ev // tickets.SIGNED_NONCES
        rate = fleet.rates["USD"].wei
        enough = runner_prices.quoted(price, runner_prices.dearest(one.worth.unit, most, rate), rate)
        yield warning(
            "runner-payment-above-total",
            f"clients of a signer with default settings cannot pay for runner {offer.name} at {seller}: that takes "
            f"{Wei(takes)} in advance, and the signer allows {Wei(backing.max_total_ev)} for one payment",
            Label((*offer.of_runner, "price")),
            [Label(("rates", "USD"), "the rate")],
            f'write price = "{enough}" or less' if enough else f"lower the price, or ticket_ev of {seller}",
        )
