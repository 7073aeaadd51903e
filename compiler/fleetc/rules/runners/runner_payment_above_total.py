"""A signer allows less for one payment than a live runner takes in advance.

Why: a signer pays in advance for 10 seconds, for 60 seconds of 720p video, or for one request. It signs no payment
above tickets.max_total_ev (20000 gwei by default). A higher ticket_ev of the orchestrator makes fewer tickets of it,
not less. So it refuses every client, and the orchestrator logs nothing.

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

from fleetc.analysis.payments import bound, limits_for
from fleetc.analysis.runner_offers import TOTAL_TOO_LOW, backing_of_clients, decisions
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
