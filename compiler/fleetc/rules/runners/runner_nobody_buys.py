"""An orchestrator on a chain offers a live runner that no signer of this fleet names, although they name others.

Why: fleetc compares its price with no signer's cap, so whether it sells is unknown. Clients of others may buy it: then
silence this.

Example:

    [rates]
    USD = "0.0004 ETH"

    [remote_signers.signer]
    buys_runners = ["echo"]

    [orchestrators.orch]
    runners = ["echo", "tiles"]
    ticket_ev = "20 gwei"

    [runners.echo]
    price = "0.10 USD / hour"

    [runners.tiles]
    price = "0.10 USD / hour"

Instead:

    [rates]
    USD = "0.0004 ETH"

    [remote_signers.signer]
    buys_runners = ["echo", "tiles"]

    [orchestrators.orch]
    runners = ["echo", "tiles"]
    ticket_ev = "20 gwei"

    [runners.echo]
    price = "0.10 USD / hour"

    [runners.tiles]
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at fleets whose signers name any runner."""
    named = {name for signer in fleet.remote_signers.values() for name in signer.buys_runners}
    if not named or not fleet.on_chain:
        return
    first = next(name for name, signer in sorted(fleet.remote_signers.items()) if signer.buys_runners)
    said = set()
    for offer in offers(fleet):
        if offer.name not in named and offer.name not in said:
            said.add(offer.name)
            yield warning(
                "runner-nobody-buys",
                f"no signer of this fleet names runner {offer.name}",
                Label(offer.path, "offered here"),
                [Label(("remote_signers", first, "buys_runners"), "other runners are named here")],
                f'add "{offer.name}" to buys_runners of a signer, or silence this',
            )
