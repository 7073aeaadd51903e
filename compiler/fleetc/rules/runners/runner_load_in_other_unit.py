"""The load that a signer expects of a live runner is not counted in what the runner is sold by.

Why: a runner sold by time charges for sessions, one sold by request for requests. With the other load, fleetc cannot
calculate the cost of an hour or the runway of the deposit.

Example:

    [remote_signers.signer]
    buys_runners = ["sd3"]
    runner_load = { sd3 = "3 sessions" }

    [orchestrators.orch]
    runners = ["sd3"]

    [runners.sd3]
    price = "0.0001 USD / request"

Instead:

    [remote_signers.signer]
    buys_runners = ["sd3"]
    runner_load = { sd3 = "200 requests / hour" }

    [orchestrators.orch]
    runners = ["sd3"]

    [runners.sd3]
    price = "0.0001 USD / request"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.funds import fits
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare each load with the unit of its runner's price."""
    for signer, settings in sorted(fleet.remote_signers.items()):
        for name, load in settings.runner_load.items():
            price = fleet.runners[name].price
            if price is None or fits(load, price.sold_by.node):
                continue
            by_request = price.sold_by.node == "fixed"
            instead = "200 requests / hour" if by_request else "2.5 sessions"
            yield error(
                "runner-load-in-other-unit",
                f"runner {name} is sold for {price}, and signer {signer} expects {load} of it",
                Label(("remote_signers", signer, "runner_load", name)),
                [Label(("runners", name, "price"), "the price")],
                f'count its {"requests" if by_request else "sessions"}: write it like "{instead}"',
            )
