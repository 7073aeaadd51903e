"""A signer expects more sessions of a live runner than its orchestrators let in.

Why: each orchestrator counts the sessions of the runner and answers 503 to more than its capacity. So the report's
deposit is for a load that never comes, and the runner refuses clients.

Example:

    [remote_signers.signer]
    buys_runners = ["echo"]
    runner_load = { echo = "6 sessions" }

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    capacity = 4
    price = "0.10 USD / hour"

Instead:

    [remote_signers.signer]
    buys_runners = ["echo"]
    runner_load = { echo = "3.5 sessions" }

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    capacity = 4
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Add up what the orchestrators that a signer may find let in of each runner."""
    for signer, settings in sorted(fleet.remote_signers.items()):
        for name, load in settings.runner_load.items():
            found = [
                offer
                for offer in offers(fleet)
                if offer.name == name
                and (not settings.orchestrators or offer.orchestrator.name in settings.orchestrators)
            ]
            room = sum(offer.runner.capacity or 1 for offer in found)
            if load.per or not found or load.in_an_hour <= room:
                continue
            own = fleet.runners[name].capacity is not None
            place = ("runners", name, "capacity") if own else ("runners", name)
            yield warning(
                "runner-load-above-capacity",
                f"signer {signer} expects {load} of runner {name} at once, and its orchestrators let {room} in",
                Label(("remote_signers", signer, "runner_load", name)),
                [Label(place, "the capacity" if own else "its capacity is 1 by default")],
                "write a capacity that the runner has room for, let more orchestrators offer it, or expect less",
            )
