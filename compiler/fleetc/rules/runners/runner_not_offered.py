"""No orchestrator offers a live runner.

Why: fleetc starts it, it may hold a GPU, and no client ever finds it.

Example:

    [orchestrators.orch]
    mode = "ai"

    [runners.echo]
    app = "example/echo"
    price = "0.10 USD / hour"

Instead:

    [rates]
    USD = "0.0004 ETH"

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
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.text.suggestions import one_of


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the runners with the lists of orchestrators."""
    offered = {offer.name for offer in offers(fleet)}
    for name in sorted(set(fleet.runners) - offered):
        sellers = sorted(fleet.orchestrators)
        where = f"of {one_of(sellers)}" if sellers else "of an orchestrator"
        yield warning(
            "runner-not-offered",
            f"no orchestrator offers runner {name}",
            Label(("runners", name), on_key=True),
            help=f'add "{name}" to the list runners {where}, or remove the runner',
        )
