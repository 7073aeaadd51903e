"""Lowers a gateway: what it listens on, whom it finds and how much it pays.

In: a fleet and one of its gateways. Out: a `Service`.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.lower import common
from compiler.lower.mapping import Planned, planned
from compiler.model import effective
from compiler.model.fleet import Fleet, Node
from compiler.model.gateway import Gateway, Webhook
from compiler.origin import derived, given
from compiler.plan import Argument, PlannedFile, Service
from compiler.quantities import Price

PRICES_FILE = "prices.json"


def lower_gateway(fleet: Fleet, node: Node, gateway: Gateway) -> Service:
    """The service of one gateway."""
    items = [
        common.role_flag("gateway", node, "its table in the spec"),
        *common.settings_of_every_node(fleet, node),
        *common.chain(fleet, node, gateway),
        *_listeners(node, gateway),
        *_discovery(fleet, node, gateway),
        *_caps(node, gateway),
    ]
    return common.service(fleet, node, "gateway", items, _price_file(fleet, node, gateway))


def _listeners(node: Node, gateway: Gateway) -> Iterator[Planned]:
    http, rtmp = effective.gateway_http(node, gateway), effective.gateway_rtmp(node, gateway)
    yield Argument("httpAddr", str(http.value), http.origin)
    yield Argument("rtmpAddr", str(rtmp.value), rtmp.origin)


def _discovery(fleet: Fleet, node: Node, gateway: Gateway) -> Iterator[Planned]:
    if gateway.orchestrators:
        addresses = [orchestrator_address(fleet, name) for name in gateway.orchestrators]
        origin = derived("the fixed list, names resolved to service addresses", (*node.path, "orchestrators"))
        yield Argument("orchAddr", ",".join(addresses), origin)
    path = (*node.path, "discovery")
    if isinstance(gateway.discovery, Webhook):
        yield planned("orchWebhookUrl", gateway.discovery.webhook, given(*path, "webhook"))
    elif gateway.discovery == "ai-registry":
        yield Argument("aiServiceRegistry", "true", given(*path))
    elif gateway.discovery == "registry" and gateway.mode == "ai":
        yield Argument(
            "aiServiceRegistry", "true", derived("an AI gateway finds orchestrators in the AI registry", path)
        )


def orchestrator_address(fleet: Fleet, name: str) -> str:
    """The address of an orchestrator that a gateway or worker names: its service address, or the text as it is."""
    orchestrator = fleet.orchestrators.get(name)
    if orchestrator is None:
        return name
    service = effective.service_address(fleet, Node("orchestrators", name, orchestrator), orchestrator)
    if service is None or service.value.port is None:
        raise ValueError(f"orchestrator {name} has no service address, which a rule refuses")
    return f"{service.value.scheme}://{service.value.host}:{service.value.port}"


def _caps(node: Node, gateway: Gateway) -> Iterator[Planned]:
    path = (*node.path, "max_price")
    if gateway.max_price == "any":
        yield Argument("maxPricePerUnit", "0", derived('the node\'s word for "any"', path))
    elif isinstance(gateway.max_price, Price):
        yield Argument("maxPricePerUnit", common.price_text(gateway.max_price), given(*path))
        yield Argument("pixelsPerUnit", str(gateway.max_price.pixels), derived("the pixels of the price", path))
    if gateway.max_model_prices:
        origin = derived("the caps by model", (*node.path, "max_model_prices"))
        yield Argument("maxPricePerCapability", common.own_file(node, PRICES_FILE), origin)


def _price_file(fleet: Fleet, node: Node, gateway: Gateway) -> tuple[PlannedFile, ...]:
    if not gateway.max_model_prices:
        return ()
    entries = []
    for name, price in sorted(gateway.max_model_prices.items()):
        model = fleet.models.get(name)
        pipeline, model_id = (model.pipeline, model.id) if model else (name, "default")
        entries.append({"pipeline": pipeline, "model_id": model_id, **common.price_entry(price)})
    origin = derived("the caps by model", (*node.path, "max_model_prices"))
    return (PlannedFile(PRICES_FILE, {"capabilities_prices": entries}, origin),)
