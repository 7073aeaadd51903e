"""An orchestrator on a chain offers a live runner without a price.

Why: the node refuses its whole list of runners and stops. A runner that registers itself without a price is turned
away.

Example:

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    app = "example/echo"

Instead:

    [orchestrators.orch]
    runners = ["echo"]
    ticket_ev = "20 gwei"

    [runners.echo]
    app = "example/echo"
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the runners that are offered. Off-chain nobody pays."""
    said = set()
    for offer in offers(fleet) if fleet.on_chain else ():
        if offer.runner.price is None and offer.name not in said:
            said.add(offer.name)
            yield error(
                "runner-price-unset",
                f"runner {offer.name} has no price, and {offer.orchestrator.name} sells it on a chain",
                Label(offer.of_runner, "no price here"),
                [Label(offer.path, "offered here")],
                'decide on a price, and write it like price = "0.10 USD / hour"',
            )
