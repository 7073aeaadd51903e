"""Lowers a gateway: what it listens on, which orchestrators it finds, how much it pays and how it transcodes streams.

In: a fleet and one of its gateways. Out: a `Service`. The functions that remote signers also use are public.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from fleetc.blueprint.blueprint import Argument, BlueprintFile, Service
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer, Gateway, Webhook
from fleetc.language.renditions import entries, gateway_rungs, rung_places
from fleetc.lower import common
from fleetc.lower.mapping import Planned, planned
from fleetc.lower.prices import price_arguments, price_file, price_lines
from fleetc.places.diagnostic import Path
from fleetc.places.origin import derived, given

RENDITIONS_FILE = "transcoding.json"


def lower_gateway(fleet: Fleet, node: Node, gateway: Gateway) -> Service:
    """The service of one gateway."""
    items = [
        common.role_flag("gateway", node, "its table in the spec"),
        *common.settings_of_every_node(fleet, node),
        *common.chain(fleet, node, gateway),
        *_listeners(node, gateway),
        *discovery(fleet, node, gateway),
        *price_arguments(fleet, node),
        *_signer(fleet, node, gateway),
        *_renditions(fleet, node),
        *_runner_versions(fleet, node, gateway),
    ]
    files = (*price_file(fleet, node), *_renditions_file(fleet, node))
    return common.service(fleet, node, "gateway", items, files, prices=price_lines(fleet, node))


def _listeners(node: Node, gateway: Gateway) -> Iterator[Planned]:
    http, rtmp = effective.gateway_http(node, gateway), effective.gateway_rtmp(node, gateway)
    yield Argument("httpAddr", str(http.value), http.origin)
    yield Argument("rtmpAddr", str(rtmp.value), rtmp.origin)


def discovery(fleet: Fleet, node: Node, buyer: Buyer) -> Iterator[Planned]:
    """How a gateway or signer finds orchestrators."""
    if buyer.orchestrators:
        addresses = [orchestrator_address(fleet, name) for name in buyer.orchestrators]
        own = [path for name in buyer.orchestrators for path in address_paths(fleet, name)]
        origin = derived("the fixed list, names resolved to service addresses", (*node.path, "orchestrators"), *own)
        yield Argument("orchAddr", ",".join(addresses), origin)
    path = (*node.path, "discovery")
    if isinstance(buyer.discovery, Webhook):
        yield planned("orchWebhookUrl", buyer.discovery.webhook, given(*path, "webhook"))
    elif buyer.discovery == "ai-registry":
        yield Argument("aiServiceRegistry", "true", given(*path))
    elif buyer.discovery == "registry" and isinstance(buyer, Gateway) and buyer.mode == "ai":
        yield Argument(
            "aiServiceRegistry", "true", derived("an AI gateway finds orchestrators in the AI registry", path)
        )


def orchestrator_address(fleet: Fleet, name: str) -> str:
    """The address of an orchestrator that a gateway or worker names: its service address, or the text as written."""
    orchestrator = fleet.orchestrators.get(name)
    if orchestrator is None:
        return name
    service = effective.service_address(fleet, Node("orchestrators", name, orchestrator))
    if service is None:
        raise ValueError(f"orchestrator {name} has no service address, which a rule refuses")
    return f"{service.value.scheme}://{service.value.authority}"


def address_paths(fleet: Fleet, name: str) -> tuple[Path, ...]:
    """Where the spec has what `orchestrator_address` returns; nowhere for an orchestrator outside this fleet."""
    orchestrator = fleet.orchestrators.get(name)
    if orchestrator is None:
        return ()
    service = effective.service_address(fleet, Node("orchestrators", name, orchestrator))
    return service.origin.paths if service is not None else ()


def _signer(fleet: Fleet, node: Node, gateway: Gateway) -> Iterator[Planned]:
    name = gateway.remote_signer.signer if gateway.remote_signer else None
    if name is None:
        return
    signer = fleet.remote_signers[name]
    listener = common.helper_address(fleet, Node("remote_signers", name, signer), signer, gateway.host)
    path = (*node.path, "remote_signer", "signer")
    origin = derived("where that signer listens", path, ("remote_signers", name, "http"))
    yield Argument("remoteSignerUrl", f"http://{listener}", origin)


def _renditions(fleet: Fleet, node: Node) -> Iterator[Planned]:
    chosen = gateway_rungs(fleet, node.name)
    if chosen is not None:
        yield Argument("transcodingOptions", common.own_file(node, RENDITIONS_FILE), chosen.origin)


def _renditions_file(fleet: Fleet, node: Node) -> tuple[BlueprintFile, ...]:
    chosen = gateway_rungs(fleet, node.name)
    if chosen is None:
        return ()
    return (BlueprintFile(RENDITIONS_FILE, entries(chosen.value), chosen.origin, rung_places(chosen.value)),)


def _runner_versions(fleet: Fleet, node: Node, gateway: Gateway) -> Iterator[Planned]:
    if not gateway.min_runner_versions:
        return
    entries = [
        {"model_id": fleet.models[name].id, "pipeline": fleet.models[name].pipeline, "minVersion": version}
        for name, version in sorted(gateway.min_runner_versions.items())
    ]
    text = json.dumps(entries, separators=(",", ":"))
    yield Argument("aiMinRunnerVersion", text, derived("the lowest versions", (*node.path, "min_runner_versions")))
