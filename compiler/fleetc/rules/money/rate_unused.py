"""The spec has a rate for a currency that no price of the fleet uses.

Why: a rate makes prices in two currencies comparable. An unused one is often a typo in the currency, and then prices
are not compared.

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
    """Look at the rates. Off-chain, prices and rates mean nothing."""
    if not fleet.rates:
        return
    used = _currencies(fleet) if fleet.on_chain else set()
    others = used - set(fleet.rates)
    for currency in sorted(fleet.rates):
        if currency not in used:
            yield warning(
                "rate-unused",
                f"no price of this fleet is in {currency}"
                + ("" if fleet.on_chain else ", and off-chain prices have no effect"),
                Label(("rates", currency), on_key=True),
                help=fleet.suggestions.did_you_mean(currency, others, "remove the rate"),
            )


def _currencies(fleet: Fleet) -> set[str]:
    used = {found.price.currency for found in all_prices(fleet) if found.price is not None}
    runners = {"USD"} if any(runner.price is not None for runner in fleet.runners.values()) else set()
    return (used | runners) - {"wei"}
