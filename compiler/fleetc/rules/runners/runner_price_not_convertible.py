"""The price of a live runner is below one wei, or too large for the node.

Why: the node starts, hides the runner and answers every client that its price is unavailable. It cuts a price to whole
wei for a second, for a pixel, or for a request.

Example:

    [rates]
    USD = "0.0004 ETH"

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    price = "0.0001 USD / 720p hour"

Instead:

    [rates]
    USD = "0.0004 ETH"

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    price = "0.05 USD / 720p hour"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import runner_prices
from fleetc.analysis.runner_offers import RunnerOffer, sold
from fleetc.analysis.runner_prices import TOO_SMALL, RunnerWorth
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at what is sold, at the rate of the spec."""
    said = set()
    for one in sold(fleet):
        offer, worth = one.offer, one.worth
        if worth is not None and worth.refusal and offer.name not in said:
            said.add(offer.name)
            yield error(
                "runner-price-not-convertible",
                f"the price of runner {offer.name} is {worth.refusal} for one {worth.advertised}",
                Label((*offer.of_runner, "price")),
                [Label(("rates", "USD"), "the rate")],
                _repair(fleet, one, worth),
            )


def _repair(fleet: Fleet, one: RunnerOffer, worth: RunnerWorth) -> str:
    """The nearest price that the node can count, in the unit of the spec."""
    price, rate = one.offer.runner.price, fleet.rates["USD"].wei
    assert price is not None  # noqa: S101  # what is sold has one
    if worth.refusal == TOO_SMALL:
        least = runner_prices.quoted(price, runner_prices.lowest(worth.unit, rate), rate, up=True)
        return f'write price = "{least}" or more'
    most = runner_prices.quoted(price, runner_prices.highest(worth.unit, rate), rate)
    return f'write price = "{most}" or less; what a signer can pay is far below that'
