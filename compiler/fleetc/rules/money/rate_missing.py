"""A price or cap is in a currency without a rate, so it cannot be compared with other currencies.

Why: fleetc knows no exchange rates and never guesses one. Without [rates], every price check skips that price. The node
converts with its own feed, so the rate here only has to be close enough to find mistakes.

Example:

    [orchestrators.orch]
    price = "0.41 USD / terapixel"

    [gateways.gate]
    max_price = "1500 wei / pixel"

Instead:

    [rates]
    USD = "0.00042 ETH"

    [orchestrators.orch]
    price = "0.41 USD / terapixel"

    [gateways.gate]
    max_price = "1500 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.prices import all_prices
from fleetc.analysis.runner_offers import sold
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the currencies of a fleet on a chain that has both prices and caps, in more than one unit."""
    if not fleet.on_chain:
        return
    yield from _runners(fleet)
    asked, paid = _places(fleet)
    units = {*asked, *paid}
    for currency in sorted(units - {"wei"} - set(fleet.rates)):
        compared = (set(paid) if currency in asked else set()) | (set(asked) if currency in paid else set())
        places = [*asked.get(currency, ()), *paid.get(currency, ())]
        if compared - {currency}:
            yield warning(
                "rate-missing",
                f"prices in {currency} cannot be compared with prices in other units: the spec has no rate for it",
                Label(places[0], f"in {currency}"),
                [Label(place, f"in {currency}") for place in places[1:_SHOWN]],
                f'write what one {currency} is worth under [rates], such as {currency} = "0.00042 ETH"',
            )


def _runners(fleet: Fleet) -> Iterator[Diagnostic]:
    """Runners are sold for USD and paid in ether, so their cost needs the rate."""
    unknown = {one.offer.name: one.offer.of_runner for one in sold(fleet) if one.worth is None}
    places = [Label((*path, "price"), "in USD") for path in unknown.values()]
    if places:
        yield warning(
            "rate-missing",
            "cannot check whether a signer can pay for these runners: the spec has no rate for USD",
            places[0],
            places[1:_SHOWN],
            'write what one USD is worth under [rates], such as USD = "0.00042 ETH"',
        )


def _places(fleet: Fleet) -> tuple[dict[str, list[Path]], dict[str, list[Path]]]:
    """Where prices are asked and paid, by currency, each place once."""
    asked: dict[str, dict[Path, None]] = {}
    paid: dict[str, dict[Path, None]] = {}
    for found in all_prices(fleet):
        if found.price is not None:
            (paid if found.pays else asked).setdefault(found.price.currency, {})[found.path] = None
    return {unit: list(places) for unit, places in asked.items()}, {unit: list(places) for unit, places in paid.items()}
