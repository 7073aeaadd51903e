"""An orchestrator's price is so low that its node rounds it to zero.

Why: unless auto_adjust_price is false, the node adds redemption costs, at least 1 percent, and keeps three decimals of
a wei per pixel. If the result is below 0.001 wei, it becomes 0, and the orchestrator works for nothing. The node
accepts such a price, so this is a warning. A price in another currency is converted at its rate in [rates].

Example:

    [orchestrators.orch]
    price = "500 wei / megapixel"

Instead:

    [orchestrators.orch]
    price = "500 wei / megapixel"
    auto_adjust_price = false
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.acceptance import Scale, least_advertised, terms_of
from fleetc.analysis.prices import asked_prices
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every price that an orchestrator on a chain asks and that is known in wei."""
    seen: set[Path] = set()
    scale = Scale(fleet.rates)
    for asked in asked_prices(fleet):
        price = asked.price
        unit, exact = scale.of(price)
        if unit != "wei" or price.is_zero or asked.path in seen:
            continue
        if least_advertised(exact, terms_of(fleet, asked.settings)) == 0:
            seen.add(asked.path)
            yield warning(
                "price-rounds-to-zero",
                f"orchestrator {asked.node.name} would work for nothing: its node rounds {price} down to zero",
                Label(asked.path),
                help="write auto_adjust_price = false for the orchestrator, or ask 0.001 wei / pixel or more",
            )
