"""A gateway pays less than every orchestrator of the fleet asks.

Why: the gateway finds orchestrators, drops each as too dear, and answers that no sessions are available. No log line
names the cap. Prices compare exactly, by the pixel, and only within one currency; a soft cap is not compared.

Example:

    [gateways.gate]
    max_price = "1000 wei / pixel"
    orchestrators = ["orch"]

    [orchestrators.orch]
    price = "1200 wei / pixel"

Instead:

    [gateways.gate]
    max_price = "1200 wei / pixel"
    orchestrators = ["orch"]
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, error, warning
from compiler.model import effective
from compiler.model.fleet import Fleet, Node
from compiler.model.gateway import Gateway
from compiler.model.market import VIDEO, Entry, Goods, Market
from compiler.quantities import Price


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each gateway on a chain. Where orchestrators outside the fleet may sell for less, it is a warning."""
    if not fleet.on_chain:
        return
    market = Market(fleet)
    names: dict[Goods, str] = {}
    for name, model in sorted(fleet.models.items()):
        names.setdefault((model.pipeline, model.id), name)
    for node in fleet.nodes:
        if isinstance(node.settings, Gateway) and not node.settings.ignore_max_price_if_needed:
            if effective.serves_video(node):
                yield from _video(market, node)
            if effective.serves_ai(node):
                yield from _models(names, market, node)


def _video(market: Market, node: Node) -> Iterator[Diagnostic]:
    cap = market.caps[node.name].base
    verdict = market.judge(node.name, VIDEO, cap)
    if cap.price is not None and verdict.state == "too-dear" and verdict.entry is not None:
        yield _refused(market, node, "video", cap, cap.price, verdict.entry)


def _models(names: dict[Goods, str], market: Market, node: Node) -> Iterator[Diagnostic]:
    caps = market.caps[node.name]
    for goods, cap in caps.models.items():
        verdict = market.judge(node.name, goods, cap)
        if cap.price is not None and verdict.state == "too-dear" and verdict.entry is not None:
            yield _refused(market, node, f"model {cap.path[-1]}", cap, cap.price, verdict.entry)
    models = market.models_for(node.name)
    for pipeline, cap in caps.pipelines.items():
        if cap.price is not None:

            def of_others(entry: Entry, pipeline: str = pipeline) -> bool:
                return entry.goods in caps.models or entry.goods[0] != pipeline

            verdict = models.offers.judge(cap.price, of_others)
            if verdict.state == "too-dear" and verdict.entry is not None:
                yield _refused(market, node, f"models of {pipeline}", cap, cap.price, verdict.entry)
    if caps.base.price is None:
        return

    def capped(entry: Entry) -> bool:
        return entry.goods in caps.models or entry.goods[0] in caps.pipelines

    dearest = models.floors.best(caps.base.price.currency, capped)
    if dearest is not None and dearest.price is not None and dearest.price.per_pixel > caps.base.price.per_pixel:
        yield _left_to_base(names[dearest.goods], node, caps.base, caps.base.price, dearest)


def _refused(market: Market, node: Node, what: str, cap: Entry, most: Price, offer: Entry) -> Diagnostic:
    closed = market.closed(node.name)
    whom = "no orchestrator sells" if closed else "no orchestrator of this fleet sells"
    key = ".".join(map(str, cap.path[2:]))
    special = ' or write max_price = "any"' if cap.path[-1] == "max_price" else " or take it away"
    return (error if closed else warning)(
        "gateway-price-admits-nobody",
        f"gateway {node.name} pays at most {most}, and {whom} {what} for that",
        Label(cap.path, "the cap"),
        [Label(offer.path, f"the cheapest offer, {offer.owner}")],
        f'raise {key} to "{offer.price}" or more,{special}',
    )


def _left_to_base(name: str, node: Node, cap: Entry, most: Price, offer: Entry) -> Diagnostic:
    """A model that has no cap of its own, so that the cap meant for video is applied to it."""
    return warning(
        "gateway-price-admits-nobody",
        f"gateway {node.name} does not pay what model {name} costs: it has no cap of its own, and max_price is lower",
        Label(cap.path, f"{most}, for all that has no cap of its own"),
        [Label(offer.path, f"the cheapest offer, {offer.owner}")],
        f'write max_model_prices = {{ {name} = "{offer.price}" }}, or more',
    )
