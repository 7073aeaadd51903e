"""An orchestrator's price is so low that its node rounds it to zero.

Why: unless auto_adjust_price is false, the node keeps three decimals of a wei by the pixel. A price below 0.001 wei
becomes 0, and the orchestrator works for nothing.

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
from fractions import Fraction

from compiler.diagnostics import Diagnostic, Label, Path, error
from compiler.model.asked import asked_prices
from compiler.model.fleet import Fleet

_LOWEST = Fraction(1, 1000)


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every price in wei that an orchestrator on a chain asks."""
    seen: set[Path] = set()
    for asked in asked_prices(fleet):
        price = asked.price
        if price.currency != "wei" or price.is_zero or asked.settings.auto_adjust_price is False or asked.path in seen:
            continue
        if price.per_pixel < _LOWEST:
            seen.add(asked.path)
            yield error(
                "price-rounds-to-zero",
                f"orchestrator {asked.node.name} would work for nothing: its node rounds {price} down to zero",
                Label(asked.path),
                help="write auto_adjust_price = false for the orchestrator, or ask 0.001 wei / pixel or more",
            )
