"""An orchestrator on a chain has a price of zero.

Why: few people mean to work for nothing. For a model, zero does not even mean free: the node then asks its base price
if it has one.

Example:

    [orchestrators.orch]
    price = "0 wei / pixel"

Instead:

    [orchestrators.orch]
    price = "1200 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.prices import asked_prices
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every price that an orchestrator on a chain asks."""
    seen: set[Path] = set()
    for asked in asked_prices(fleet):
        if not asked.price.is_zero or asked.path in seen:
            continue
        seen.add(asked.path)
        base = asked.settings.price
        if asked.model and base is not None and not base.is_zero:
            yield warning(
                "zero-price",
                f"orchestrator {asked.node.name} asks its base price for model {asked.model}, not zero",
                Label(asked.path, "read as: no price of its own"),
                [Label((*asked.node.path, "price"), "the base price")],
                "write the price that you mean, or remove it",
            )
        else:
            yield warning(
                "zero-price",
                f"orchestrator {asked.node.name} works for nothing",
                Label(asked.path),
                help='decide on a price, and write it like price = "..."; to work for free, silence this warning',
            )
