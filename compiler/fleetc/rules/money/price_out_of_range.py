"""An orchestrator's price is outside the range that its node can send.

Why: prices are sent as two 64-bit integers. With automatic adjustment, a price above about 9.2e15 wei is cut to that.
Without it, a price whose exact fraction does not fit cannot be sent, and gateways get no price.

Example:

    [orchestrators.orch]
    price = "1 ETH / pixel"

Instead:

    [orchestrators.orch]
    price = "1200 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.acceptance import Scale, least_advertised, terms_of
from fleetc.analysis.prices import asked_prices
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every price that an orchestrator on a chain asks and that is known in wei."""
    seen: set[Path] = set()
    scale = Scale(fleet.rates)
    for asked in asked_prices(fleet):
        unit, exact = scale.of(asked.price)
        if unit != "wei" or asked.path in seen:
            continue
        terms = terms_of(fleet, asked.settings)
        sent = least_advertised(exact, terms)
        if sent is None or (exact - sent) * 1000 >= 1:  # adjustment cuts off less than a thousandth
            how = "the most it can send is about 9.2e15 wei / pixel" if terms.adjusts else "use fewer digits"
            seen.add(asked.path)
            yield error(
                "price-out-of-range",
                f"the node of orchestrator {asked.node.name} cannot send the price {asked.price}",
                Label(asked.path),
                help=how,
            )
