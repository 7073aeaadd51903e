"""The cap of a remote signer is below the price of a live runner that its clients must be able to buy.

Why: the signer refuses to pay, and hides the runner where it finds orchestrators. It compares the number in max_price
with the wei of every price, whether those are for a pixel, a second or a request.

Example:

    [rates]
    USD = "0.0004 ETH"

    [remote_signers.signer]
    max_price = "1500 wei / pixel"
    buys_runners = ["echo"]

    [orchestrators.orch]
    runners = ["echo"]
    ticket_ev = "20 gwei"

    [runners.echo]
    price = "0.10 USD / hour"

Instead:

    [rates]
    USD = "0.0004 ETH"

    [remote_signers.signer]
    max_price = "12000000000 wei / pixel"
    buys_runners = ["echo"]

    [orchestrators.orch]
    runners = ["echo"]
    ticket_ev = "20 gwei"

    [runners.echo]
    price = "0.10 USD / hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.acceptance import TOO_EXPENSIVE
from fleetc.analysis.runner_offers import RunnerDecision, decisions
from fleetc.language.fleet import Fleet
from fleetc.language.signer import Signer
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the runners that signers name; for those, one offer within the cap is enough."""
    found: dict[tuple[str, str], list[RunnerDecision]] = {}
    for decision in decisions(fleet):
        settings = decision.signer.settings
        if isinstance(settings, Signer) and decision.sold.offer.name in settings.buys_runners:
            found.setdefault((decision.signer.name, decision.sold.offer.name), []).append(decision)
    for (signer, runner), same in found.items():
        if any(decision.outcome != TOO_EXPENSIVE for decision in same):
            continue
        cheapest = min((d.sold for d in same), key=lambda sold: sold.worth.wei if sold.worth else 0)
        worth = cheapest.worth
        if worth is None:
            continue
        yield error(
            "runner-cap-refuses",
            f"signer {signer} does not pay for runner {runner}: it costs {worth.wei} wei for one {worth.advertised}, "
            "and the signer compares that number with its cap",
            Label(("remote_signers", signer, "max_price"), "the cap"),
            [Label((*cheapest.offer.of_runner, "price"), "the price")],
            f'write max_price = "{worth.wei} wei / pixel" or more, or "any"; the cap then holds for pixels as well',
        )
