"""Every price of a node and its place in the spec: the most that a gateway or signer pays, what an orchestrator asks.

In: a sound `Fleet` and one of its nodes. Out: `NodePrice`s. This is the only list of prices: lowering, the market, the
rules about money, reviews and pages read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.language import effective
from fleetc.language.answers import once, once_for_all
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Price
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Path


class NodePrice(NamedTuple):
    """One price of `node`: a cap if it `pays`, else what it asks. `price` is None if it pays any price.

    `work` is the model or pipeline that it is for, by its key in the spec, or "" for the base price. `to` is the only
    gateway or account that it is for. `at` is the index in an orchestrator's list of models, -1 elsewhere.
    """

    node: Node
    pays: bool
    price: Price | None
    path: Path
    work: str = ""
    to: str = ""
    at: int = -1

    @property
    def is_base(self) -> bool:
        """Whether it applies to everybody and to all work without its own price."""
        return not self.work and not self.to


@once
def prices_of(fleet: Fleet, node: Node) -> tuple[NodePrice, ...]:
    """The prices of a node in the order of the spec, the base price first."""
    if isinstance(node.settings, Buyer):
        return tuple(_paid(node, node.settings))
    if isinstance(node.settings, Orchestrator):
        return tuple(_asked(fleet, node, node.settings))
    return ()


def base_price(fleet: Fleet, node: Node) -> NodePrice | None:
    """The base price of a node, if it states one."""
    return next((price for price in prices_of(fleet, node) if price.is_base), None)


@once_for_all
def all_prices(fleet: Fleet) -> tuple[NodePrice, ...]:
    """The prices in effect of all nodes of a fleet; none off-chain."""
    return tuple(_all_prices(fleet)) if fleet.on_chain else ()


def _all_prices(fleet: Fleet) -> Iterator[NodePrice]:
    for node in fleet.nodes:
        serves_ai = effective.serves_ai(node)
        yield from (price for price in prices_of(fleet, node) if serves_ai or price.at < 0)


def asked_prices(fleet: Fleet) -> Iterator[tuple[NodePrice, Orchestrator, Price]]:
    """The prices that orchestrators ask, node by node: each with its orchestrator, and the price itself."""
    for found in all_prices(fleet):
        if isinstance(found.node.settings, Orchestrator) and found.price is not None:
            yield found, found.node.settings, found.price


def _paid(node: Node, buyer: Buyer) -> Iterator[NodePrice]:
    if buyer.max_price is not None:
        base = buyer.max_price if isinstance(buyer.max_price, Price) else None
        yield NodePrice(node, True, base, (*node.path, "max_price"))
    for work, price in buyer.max_model_prices.items():
        yield NodePrice(node, True, price, (*node.path, "max_model_prices", work), work)


def _asked(fleet: Fleet, node: Node, orchestrator: Orchestrator) -> Iterator[NodePrice]:
    if orchestrator.price is not None:
        yield NodePrice(node, False, orchestrator.price, (*node.path, "price"))
    for to, price in orchestrator.gateway_prices.items():
        yield NodePrice(node, False, price, (*node.path, "gateway_prices", to), to=to)
    for index, use in enumerate(orchestrator.models):
        own = effective.model_price(fleet, node, index, use)
        if own is not None:
            yield NodePrice(node, False, own.value, own.origin.paths[0], use.use, at=index)
        for to, price in use.gateway_prices.items():
            path = (*node.path, "models", index, "gateway_prices", to)
            yield NodePrice(node, False, price, path, use.use, to, index)


class AtBase(NamedTuple):
    """A model that an orchestrator sells at its base price, because it has no price, or zero, in its own list.

    `place` is where the model is used: in that list, or in a remote worker's.
    """

    node: Node
    model: str
    base: Price
    place: Path


def sold_at_base(fleet: Fleet, node: Node) -> Iterator[AtBase]:
    """What a node sells at its base price, each model once. Off-chain there are no prices."""
    settings = node.settings
    if not isinstance(settings, Orchestrator) or not effective.serves_ai(node) or not fleet.on_chain:
        return
    base = settings.price
    if base is None or base.is_zero:
        return
    prices = {use.use: effective.model_price(fleet, node, at, use) for at, use in enumerate(settings.models)}
    places: dict[str, Path] = {use.use: (*node.path, "models", at) for at, use in enumerate(settings.models)}
    for worker in fleet.workers_by_orchestrator.get(node.name, ()):
        if isinstance(worker.settings, AiWorker):
            for at, use in enumerate(worker.settings.models):
                places.setdefault(use.use, (*worker.path, "models", at))
    for model, place in places.items():
        own = prices.get(model)
        if own is None or own.value.is_zero:
            yield AtBase(node, model, base, place)
