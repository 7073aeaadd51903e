"""An orchestrator's price is outside the numbers its node can send.

Why: prices travel as two 64-bit integers. With automatic adjustment a price above about 9.2e15 wei is cut to that;
without it, one whose exact fraction does not fit cannot be sent, and gateways get no price.

Example:

    [orchestrators.orch]
    price = "1 ETH / pixel"

Instead:

    [orchestrators.orch]
    price = "1200 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, Path, error
from compiler.model.asked import asked_prices
from compiler.model.fleet import Fleet

_INT64 = 2**63 - 1
_DECIMALS = 1000  # the node keeps three decimals when it adjusts a price


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every price in wei that an orchestrator on a chain asks."""
    seen: set[Path] = set()
    for asked in asked_prices(fleet):
        if asked.price.currency != "wei" or asked.path in seen:
            continue
        exact = asked.price.per_pixel
        if asked.settings.auto_adjust_price is False:
            fits = exact.numerator <= _INT64 and exact.denominator <= _INT64
            how = "use fewer digits"
        else:
            fits = exact * _DECIMALS <= _INT64
            how = "the most it can send is about 9.2e15 wei / pixel"
        if not fits:
            seen.add(asked.path)
            yield error(
                "price-out-of-range",
                f"the node of orchestrator {asked.node.name} cannot send the price {asked.price}",
                Label(asked.path),
                help=how,
            )
