"""Every price that the orchestrators of a fleet on a chain ask, and where it is written.

In: a sound `Fleet`. Out: an iterator over `Asked`. Called by the rules about single prices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from compiler.diagnostics import Path
from compiler.model import effective
from compiler.model.fleet import Fleet, Node
from compiler.model.orchestrator import Orchestrator
from compiler.quantities import Price


class Asked(NamedTuple):
    """A price of an orchestrator; `model` is the model that it is for, or "" for the base price."""

    node: Node
    settings: Orchestrator
    price: Price
    path: Path
    model: str = ""


def asked_prices(fleet: Fleet) -> Iterator[Asked]:
    """Base prices, prices for single gateways and prices of models, node by node; nothing off-chain."""
    if not fleet.on_chain:
        return
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Orchestrator):
            continue
        if settings.price is not None:
            yield Asked(node, settings, settings.price, (*node.path, "price"))
        for key, price in settings.gateway_prices.items():
            yield Asked(node, settings, price, (*node.path, "gateway_prices", key))
        if not effective.serves_ai(node):
            continue
        for index, use in enumerate(settings.models):
            chosen = effective.model_price(fleet, node, index, use)
            if chosen is not None:
                yield Asked(node, settings, chosen.value, chosen.origin.paths[0], use.use)
            for key, price in use.gateway_prices.items():
                yield Asked(node, settings, price, (*node.path, "models", index, "gateway_prices", key), use.use)
