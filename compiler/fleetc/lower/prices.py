"""Lowers prices: the flags and files that pass them to the node, and the lines that people read.

In: a fleet and a node. Out: arguments, entries of files, `PriceLine`s. The prices themselves come from
`analysis/prices.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.prices import NodePrice, base_price, prices_of
from fleetc.blueprint.blueprint import Argument, BlueprintFile, PriceLine
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import ANY_PRICE, Price
from fleetc.language.quantities.amounts import plain_number
from fleetc.lower import common
from fleetc.lower.mapping import Planned
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, derived, given

PRICES_FILE = "prices.json"

PRICE_KEYS = ("price_per_unit", "pixels_per_unit", "currency")
"""The keys of a price in the node's JSON files, as `price_entry` writes them."""

_CAPS = ("gateways.max_model_prices", "remote_signers.max_model_prices")
_OFFERS = ("orchestrators.gateway_prices",)
KEYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("capabilities_prices", "pipeline", "model_id", *PRICE_KEYS[:2]), _CAPS),
    **dict.fromkeys(("gateways", "ethaddress", "priceperunit", "pixelsperunit"), _OFFERS),
    "currency": _CAPS + _OFFERS,
}
"""What of a spec each key of the file comes from, as dotted names of fields."""


def price_arguments(fleet: Fleet, node: Node) -> Iterator[Planned]:
    """The base price of a node, and the name of the file with the others."""
    base = base_price(fleet, node)
    if base is not None and base.price is None:
        yield Argument("maxPricePerUnit", "0", _base_origin(base))
    elif base is not None and base.price is not None:
        pixels = derived("the pixels of the price", base.path)
        yield Argument("maxPricePerUnit" if base.pays else "pricePerUnit", _digits(base.price), _base_origin(base))
        yield Argument("pixelsPerUnit", str(base.price.pixels), pixels)
    elif (alone := _runners_alone(fleet, node)) is not None:
        yield Argument("pricePerUnit", "0", alone)
    listed = _listed(fleet, node)
    if listed and listed[0].pays:
        origin = derived("the caps by model", (*node.path, "max_model_prices"))
        yield Argument("maxPricePerCapability", common.own_file(node, PRICES_FILE), origin)
    elif listed:
        origin = derived("the prices by gateway", (*node.path, "gateway_prices"))
        yield Argument("pricePerGateway", common.own_file(node, PRICES_FILE), origin)


def price_file(fleet: Fleet, node: Node) -> tuple[BlueprintFile, ...]:
    """A buyer's caps by model and by pipeline, or an orchestrator's prices by gateway."""
    listed = _listed(fleet, node)
    if not listed:
        return ()
    if listed[0].pays:
        key, origin = "capabilities_prices", derived("the caps by model", (*node.path, "max_model_prices"))
        entries = [_cap_entry(fleet, price) for price in listed]
    else:
        key, origin = "gateways", derived("the prices by gateway", (*node.path, "gateway_prices"))
        entries = [_gateway_entry(fleet, price) for price in listed]
    places: dict[Path, Origin] = {(key, at): price_origin(fleet, price) for at, price in enumerate(listed)}
    return (BlueprintFile(PRICES_FILE, {key: entries}, origin, places),)


def price_lines(fleet: Fleet, node: Node) -> tuple[PriceLine, ...]:
    """The prices of a node as people read them, in the order of its flags and files."""
    lines = []
    base = base_price(fleet, node)
    if base is not None:
        shown = ANY_PRICE if base.price is None else str(base.price)
        lines.append(PriceLine(base.pays, "base price", shown, _base_origin(base)))
    elif (alone := _runners_alone(fleet, node)) is not None:
        lines.append(PriceLine(False, "base price", "0 wei / pixel", alone))
    of_models = sorted((p for p in prices_of(fleet, node) if p.at >= 0 and fleet.on_chain), key=lambda p: (p.at, p.to))
    for price in (*of_models, *_listed(fleet, node)):
        lines.append(PriceLine(price.pays, _work(fleet, price), str(price.price), price_origin(fleet, price)))
    return tuple(lines)


def price_entry(price: Price) -> dict[str, object]:
    """A price in the form of the node's JSON files. Amount, pixels and currency always come together."""
    return dict(zip(PRICE_KEYS, (common.json_number(price.amount), price.pixels, price.currency), strict=True))


def price_origin(fleet: Fleet, price: NodePrice) -> Origin:
    """The origin of an entry of a file."""
    if price.pays:
        return derived("the cap for this work", price.path, *_model_path(fleet, price))
    return derived("the price for one gateway", price.path) if price.work and price.to else given(*price.path)


def _listed(fleet: Fleet, node: Node) -> list[NodePrice]:
    """The prices in the file of prices, sorted. Prices of an orchestrator's models are in its list of models."""
    found = (price for price in prices_of(fleet, node) if price.at < 0 and not price.is_base)
    return sorted(found, key=lambda price: price.work or price.to)


def _cap_entry(fleet: Fleet, cap: NodePrice) -> dict[str, object]:
    pipeline, model_id = common.goods(fleet, cap)
    assert cap.price is not None  # noqa: S101  # only a base price can be any
    return {"pipeline": pipeline, "model_id": model_id, **price_entry(cap.price)}


def _gateway_entry(fleet: Fleet, asked: NodePrice) -> dict[str, object]:
    assert asked.price is not None  # noqa: S101  # there is no price
    return {
        "ethaddress": common.account(fleet, asked.to),
        "priceperunit": common.json_number(asked.price.amount),
        "pixelsperunit": asked.price.pixels,
        "currency": asked.price.currency,
    }


def _work(fleet: Fleet, price: NodePrice) -> str:
    work = " ".join(common.goods(fleet, price)) if price.work else ""
    to = f"gateway {common.account(fleet, price.to)}" if price.to else ""
    return f"{work} {to}".strip()


def _model_path(fleet: Fleet, price: NodePrice) -> tuple[Path, ...]:
    return (("models", price.work),) if price.work in fleet.models else ()


def _base_origin(base: NodePrice) -> Origin:
    return derived('the node\'s word for "any"', base.path) if base.price is None else given(*base.path)


def _runners_alone(fleet: Fleet, node: Node) -> Origin | None:
    """Why an orchestrator without a price still gets one."""
    if node.table != "orchestrators" or not fleet.on_chain:
        return None
    runners = effective.live_runners_alone(fleet, node)
    reason = "live runners have prices of their own, and the node does not start without one"
    return derived(reason, *runners.origin.paths) if runners.value else None


def _digits(price: Price) -> str:
    """A price in the form of the node's price flags: digits, and the currency unless it is wei."""
    return plain_number(price.amount) + ("" if price.currency == "wei" else price.currency)
