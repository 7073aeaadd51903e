"""An orchestrator's price is outside the range that its node can send, or the node rounds it to zero.

Why: prices are sent as two 64-bit integers. With automatic adjustment, a price above about 9.2e15 wei is cut to that.
Without it, a price whose exact fraction does not fit cannot be sent, and gateways get no price. The adjustment adds
redemption costs, at least 1 percent, and keeps three decimals of a wei per pixel: a result below 0.001 wei becomes 0,
and the orchestrator works for nothing. The node accepts that, so it is a warning. A price in another currency is
converted at its rate in [rates].

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
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every price that an orchestrator on a chain asks and that is known in wei."""
    seen: set[Path] = set()
    scale = Scale(fleet.rates)
    for asked, orchestrator, price in asked_prices(fleet):
        unit, exact = scale.of(price)
        if unit != "wei" or asked.path in seen:
            continue
        terms = terms_of(fleet, orchestrator)
        sent = least_advertised(exact, terms)
        if sent is None or (exact - sent) * 1000 >= 1:  # adjustment cuts off less than a thousandth
            how = "the most it can send is about 9.2e15 wei / pixel" if terms.adjusts else "use fewer digits"
            seen.add(asked.path)
            yield error(
                "price-out-of-range",
                f"the node of orchestrator {asked.node.name} cannot send the price {price}",
                Label(asked.path),
                help=how,
            )
        elif sent == 0 and not price.is_zero:
            seen.add(asked.path)
            yield warning(
                "price-out-of-range",
                f"orchestrator {asked.node.name} would work for nothing: its node rounds {price} down to zero",
                Label(asked.path),
                help="write auto_adjust_price = false for the orchestrator, or ask 0.001 wei / pixel or more",
            )
