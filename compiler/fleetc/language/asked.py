"""Every price that the orchestrators of a fleet on a chain ask, and where it is written.

In: a sound `Fleet`. Out: an iterator over `Asked`. Called by the rules about single prices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Price
from fleetc.places.diagnostic import Path


class Asked(NamedTuple):
    """A price of an orchestrator; `model` is the model that it is for, or "" for the base price."""

    node: Node
    settings: Orchestrator
    price: Price
    path: Path
    model: str = ""


def asked_prices(fleet: Fleet) -> Iterator[Asked]:
    """Base prices, prices for single gateways and prices of models, node by node; nothing off-chain."""
    if fleet.on_chain:
        for node in fleet.nodes:
            if isinstance(node.settings, Orchestrator):
                yield from _asked_by(fleet, node, node.settings)


@effective.once
def _asked_by(fleet: Fleet, node: Node, settings: Orchestrator) -> list[Asked]:
    found = []
    if settings.price is not None:
        found.append(Asked(node, settings, settings.price, (*node.path, "price")))
    for key, price in settings.gateway_prices.items():
        found.append(Asked(node, settings, price, (*node.path, "gateway_prices", key)))
    for index, use in enumerate(settings.models if effective.serves_ai(node) else ()):
        chosen = effective.model_price(fleet, node, index, use)
        if chosen is not None:
            found.append(Asked(node, settings, chosen.value, chosen.origin.paths[0], use.use))
        for key, price in use.gateway_prices.items():
            path = (*node.path, "models", index, "gateway_prices", key)
            found.append(Asked(node, settings, price, path, use.use))
    return found
