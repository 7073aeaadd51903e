"""A remote signer names a live runner that no orchestrator of this fleet offers to its clients.

Why: at any cap, its clients never find the runner.

Example:

    [remote_signers.signer]
    buys_runners = ["echo"]

    [orchestrators.orch]
    mode = "ai"

    [runners.echo]
    price = "0.10 USD / hour"

Instead:

    [remote_signers.signer]
    buys_runners = ["echo"]

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at what signers name, and at their fixed lists of orchestrators."""
    sellers: dict[str, list[str]] = {}
    for offer in offers(fleet):
        sellers.setdefault(offer.name, []).append(offer.orchestrator.name)
    for name, signer in sorted(fleet.remote_signers.items()):
        for at, runner in enumerate(signer.buys_runners):
            found = sellers.get(runner, [])
            if found and (not signer.orchestrators or set(found) & {*signer.orchestrators}):
                continue
            who = "on the list of this signer offers" if found else "offers"
            advice = f'add "{runner}" to the list runners of an orchestrator'
            if found:
                advice = f'add "{found[0]}" to the list orchestrators of the signer'
            yield error(
                "runner-nobody-sells",
                f"clients of signer {name} should buy runner {runner}, and no orchestrator {who} it",
                Label(("remote_signers", name, "buys_runners", at)),
                help=advice,
            )
