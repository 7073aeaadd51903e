"""A signer allows less for one payment than a live runner takes in advance.

Why: a signer pays in advance for 10 seconds, for 60 seconds of video at 720p, or for one request, and signs no payment
that is worth more than tickets.max_total_ev (20000 gwei by default). A higher ticket_ev of the orchestrator makes fewer
tickets of it, not less. So every client is refused, and nothing in the orchestrator's log says so.

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
    tickets = { max_total_ev = "40000 gwei" }

    [orchestrators.orch]
    runners = ["sd3"]
    ticket_ev = "1000 gwei"

    [runners.sd3]
    price = "0.10 USD / request"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.payments import bound
from fleetc.analysis.runner_offers import TOTAL_TOO_LOW, decisions, total_of
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Wei
from fleetc.language.signer import Signer
from fleetc.places.diagnostic import Diagnostic, Label, error, warning

_GWEI = 10**9


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each signer and each runner that its clients may find, at the rate of the spec."""
    for decision in decisions(fleet):
        settings, one = decision.signer.settings, decision.sold
        if decision.why != TOTAL_TOO_LOW or one.worth is None or not isinstance(settings, Signer):
            continue
        offer, signer = one.offer, decision.signer.name
        takes = -(-one.worth.prepaid // one.ticket_ev) * one.ticket_ev
        enough = Wei(-(-takes // _GWEI) * _GWEI)
        yield (error if offer.name in settings.buys_runners else warning)(
            "runner-payment-above-total",
            f"clients of signer {signer} cannot pay for runner {offer.name} at {offer.orchestrator.name}: that takes "
            f"{Wei(takes)} in advance, and the signer allows {Wei(total_of(settings))} for one payment",
            Label((*offer.of_runner, "price")),
            [
                bound(fleet, decision.signer.path, "max_total_ev", total_of(settings)),
                Label(("rates", "USD"), "the rate"),
            ],
            f'write tickets = {{ max_total_ev = "{enough}" }} or more in remote_signers.{signer}, or a lower price',
        )
