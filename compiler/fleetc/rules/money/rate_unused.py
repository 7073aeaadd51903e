"""A rate is stated for a currency that no price of the fleet is in.

Why: a rate makes prices of two currencies comparable. One that is never used is often a slip in the name of the
currency, and then prices go uncompared.

Example:

    [rates]
    USDC = "0.00042 ETH"

    [orchestrators.orch]
    price = "0.41 USD / terapixel"

Instead:

    [rates]
    USD = "0.00042 ETH"

    [orchestrators.orch]
    price = "0.41 USD / terapixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.prices import all_prices
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the rates. Off-chain no price means anything, and so no rate does."""
    if not fleet.rates:
        return
    used = _currencies(fleet) if fleet.on_chain else set()
    others = used - set(fleet.rates)
    for currency in sorted(fleet.rates):
        if currency not in used:
            yield warning(
                "rate-unused",
                f"no price of this fleet is in {currency}" + ("" if fleet.on_chain else ", and off-chain none counts"),
                Label(("rates", currency), on_key=True),
                help=fleet.suggestions.did_you_mean(currency, others, "remove the rate"),
            )


def _currencies(fleet: Fleet) -> set[str]:
    return {found.price.currency for found in all_prices(fleet) if found.price is not None} - {"wei"}
