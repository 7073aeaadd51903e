"""Clients of one remote signer buy live runners that are sold by different units.

Why: the signer has one number for all of them. A cap for a second of one is far too high for a pixel or a request of
another, so it protects from nothing.

Example:

    [remote_signers.signer]
    buys_runners = ["echo", "video"]

    [orchestrators.orch]
    runners = ["echo", "video"]

    [runners.echo]
    price = "0.10 USD / hour"

    [runners.video]
    price = "0.05 USD / 720p hour"

Instead:

    [remote_signers.signer]
    buys_runners = ["echo"]

    [remote_signers.other]
    buys_runners = ["video"]

    [orchestrators.orch]
    runners = ["echo", "video"]

    [runners.echo]
    price = "0.10 USD / hour"

    [runners.video]
    price = "0.05 USD / 720p hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.runner_prices import ADVERTISED
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the signers that name runners and have a cap."""
    for name, signer in sorted(fleet.remote_signers.items()) if fleet.on_chain else ():
        units: dict[str, int] = {}
        for at, runner in enumerate(signer.buys_runners):
            price = fleet.runners[runner].price
            if price is not None:
                units.setdefault(ADVERTISED[price.sold_by.node], at)
        if len(units) > 1 and signer.max_price != "any":
            path = ("remote_signers", name, "buys_runners")
            first, *others = units.items()
            yield warning(
                "runner-caps-of-two-units",
                f"signer {name} has one cap for prices of a {' and of a '.join(units)}",
                Label((*path, first[1]), f"sold by the {first[0]}"),
                [Label((*path, at), f"sold by the {unit}") for unit, at in others],
                "give each unit a signer of its own",
            )
