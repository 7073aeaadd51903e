"""A model without a price sells at the base price of its orchestrator.

Why: the node falls back to its base price, in most fleets the price of a pixel of video. A pixel of an image is often
worth thousands of times as much, so the model runs almost for nothing. Models of remote AI workers have the price in
the list of their orchestrator; one that is missing there has none.

Example:

    [models.sdxl]
    pipeline = "text-to-image"

    [orchestrators.orch]
    mode = "dual"
    price = "1200 wei / pixel"
    models = [{ use = "sdxl" }]

Instead:

    [models.sdxl]
    pipeline = "text-to-image"
    price = "4768371 wei / pixel"

    [orchestrators.orch]
    mode = "dual"
    price = "1200 wei / pixel"
    models = [{ use = "sdxl" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.prices import AtBase, sold_at_base
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at what orchestrators sell at their base price; `zero-price` reports those that say zero."""
    unpriced: dict[str, list[AtBase]] = {}
    for node in fleet.nodes:
        for sold in sold_at_base(fleet, node):
            if fleet.models[sold.model].price is None and sold.place[:2] == node.path:
                unpriced.setdefault(sold.model, []).append(sold)
            elif sold.place[:2] != node.path:
                yield _of_worker(fleet, sold)
    for model, sales in sorted(unpriced.items()):
        sellers = f"orchestrator {sales[0].node.name} sells it at its base price, {sales[0].base}"
        if len(sales) > 1:
            sellers = f"{len(sales)} orchestrators sell it at their base prices"
        yield warning(
            "model-price-unset",
            f"model {model} has no price, so {sellers}",
            Label(("models", model), "no price here"),
            [Label(sold.place, f"sold at {sold.base}") for sold in sales[:_SHOWN]],
            f'write its price in models.{model}, like price = "..."; if you mean the base price, write that one',
        )


def _of_worker(fleet: Fleet, sold: AtBase) -> Diagnostic:
    """Run by a worker, and missing in the list of the orchestrator that sells it."""
    own = fleet.models[sold.model].price
    name, instead = sold.node.name, "" if own is None else f", not at {own}"
    price = "" if own is not None else ', price = "..."'
    return warning(
        "model-price-unset",
        f"orchestrator {name} sells model {sold.model} at the base price, {sold.base}{instead}: its own list lacks it",
        Label(sold.place, "run here"),
        [Label((*sold.node.path, "price"), "the base price")],
        f'add {{ use = "{sold.model}"{price} }} to models of orchestrator {name}',
    )
