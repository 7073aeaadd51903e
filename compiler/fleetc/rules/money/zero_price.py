"""An orchestrator on a chain has a price of zero.

Why: few people mean to work for nothing. For a model, zero does not even mean free: the node then asks its base price
if it has one. A base price is not looked at where only models are sold and each has its own.

Example:

    [orchestrators.orch]
    price = "0 wei / pixel"

Instead:

    [orchestrators.orch]
    price = "1200 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.prices import NodePrice, asked_prices, prices_of
from fleetc.language.fleet import Fleet
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every price that an orchestrator on a chain asks."""
    seen: set[Path] = set()
    for asked, orchestrator, price in asked_prices(fleet):
        if not price.is_zero or asked.path in seen or _is_unused(fleet, asked, orchestrator):
            continue
        seen.add(asked.path)
        base = orchestrator.price
        if asked.work and base is not None and not base.is_zero:
            yield warning(
                "zero-price",
                f"orchestrator {asked.node.name} asks its base price for model {asked.work}, not zero",
                Label(asked.path, "read as: no price of its own"),
                [Label((*asked.node.path, "price"), "the base price")],
                "write the price that you mean, or remove it",
            )
        else:
            yield warning(
                "zero-price",
                f"orchestrator {asked.node.name} works for nothing",
                Label(asked.path),
                help='decide on a price, and write it like price = "..."; to work for free, write [silences.free] with '
                'code = "zero-price" and a reason',
            )


def _is_unused(fleet: Fleet, asked: NodePrice, orchestrator: Orchestrator) -> bool:
    """Whether a base price is for nothing: only AI is sold, each model has a price, and AI workers run no others."""
    if asked.work or orchestrator.mode != "ai":
        return False
    own = {one.at for one in prices_of(fleet, asked.node) if not one.to and one.price and not one.price.is_zero}
    if not orchestrator.models or not own.issuperset(range(len(orchestrator.models))):
        return False
    priced = {use.use for use in orchestrator.models}
    workers = fleet.workers_by_orchestrator.get(asked.node.name, ())
    return all(
        isinstance(one.settings, AiWorker) and priced.issuperset(use.use for use in one.settings.models)
        for one in workers
    )
