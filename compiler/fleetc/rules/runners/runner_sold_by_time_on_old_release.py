"""A live runner is sold by time on release v0.9.0 of the node.

Why: v0.9.0 does not tell clients where to pay during a session, so they stop after their advance payment. v0.9.1 does.

Example:

    [orchestrators.orch]
    node_release = "v0.9.0"
    runners = ["echo"]

    [runners.echo]
    price = "0.10 USD / hour"

Instead:

    [orchestrators.orch]
    node_release = "v0.9.1"
    runners = ["echo"]

    [runners.echo]
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning

_WITHOUT_PAYMENT_URL = (0, 9, 0)


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at what is sold by the hour or by pictures."""
    for offer in offers(fleet) if fleet.on_chain else ():
        price = offer.runner.price
        release = effective.release_of(fleet, offer.orchestrator)
        if price is not None and price.sold_by.node != "fixed" and release.value == _WITHOUT_PAYMENT_URL:
            yield warning(
                "runner-sold-by-time-on-old-release",
                f"clients cannot go on paying for runner {offer.name} at {offer.orchestrator.name}",
                Label((*offer.of_runner, "price"), "sold by time"),
                [Label(release.origin.paths[0], "the release")],
                'write node_release = "v0.9.1", or a price for each request',
            )
