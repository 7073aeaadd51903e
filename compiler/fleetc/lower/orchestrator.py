"""Lowers an orchestrator: its service address, its prices, and who does its work.

In: a fleet and one of its orchestrators. Out: a `Service`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import Argument, Service
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator
from fleetc.lower import common
from fleetc.lower.mapping import Planned
from fleetc.lower.models import model_arguments, models_file
from fleetc.lower.prices import price_arguments, price_file, price_lines
from fleetc.lower.runner import capability_files, runner_arguments, runner_file
from fleetc.places.origin import derived, given


def lower_orchestrator(fleet: Fleet, node: Node, orchestrator: Orchestrator) -> Service:
    """The service of one orchestrator."""
    works_ai = effective.runs_models(fleet, node).value and effective.serves_ai(node)
    items = [
        common.role_flag("orchestrator", node, "its table in the spec"),
        *common.settings_of_every_node(fleet, node),
        *common.chain(fleet, node, orchestrator),
        *_listeners(fleet, node, orchestrator),
        *_work(fleet, node),
        *price_arguments(fleet, node),
        *model_arguments(fleet, node, orchestrator, works_ai),
        *common.gpus(fleet, node),
        *_registry(fleet, node, orchestrator),
        *_redeemer(fleet, node, orchestrator),
        *runner_arguments(fleet, node, orchestrator),
    ]
    files = (
        *models_file(fleet, node, orchestrator, fleet.on_chain),
        *price_file(fleet, node),
        *runner_file(fleet, node),
        *capability_files(node, orchestrator),
    )
    return common.service(fleet, node, "orchestrator", items, files, works_ai, price_lines(fleet, node))


def _listeners(fleet: Fleet, node: Node, orchestrator: Orchestrator) -> Iterator[Planned]:
    http = effective.orchestrator_http(fleet, node)
    scheme = "" if orchestrator.http_tls else "http://"
    yield Argument("httpAddr", f"{scheme}{http.value}", http.origin)
    service = effective.service_address(fleet, node)
    if service is not None:
        address = service.value
        prefix = "http://" if address.scheme == "http" else ""
        yield Argument("serviceAddr", f"{prefix}{address.authority}", service.origin)


def _work(fleet: Fleet, node: Node) -> Iterator[Planned]:
    transcodes = effective.transcodes(fleet, node)
    if transcodes.value:
        yield Argument("transcoder", "true", transcodes.origin)
    runs_models = effective.runs_models(fleet, node)
    if runs_models.value:
        yield Argument("aiWorker", "true", runs_models.origin)


def _registry(fleet: Fleet, node: Node, orchestrator: Orchestrator) -> Iterator[Planned]:
    if orchestrator.ai_registry is not None:
        value = "true" if orchestrator.ai_registry else "false"
        yield Argument("aiServiceRegistry", value, given(*node.path, "ai_registry"))
    elif fleet.on_chain and orchestrator.mode == "ai":
        reason = "an AI orchestrator is found through the AI registry"
        yield Argument("aiServiceRegistry", "true", derived(reason, (*node.path, "mode")))


def _redeemer(fleet: Fleet, node: Node, orchestrator: Orchestrator) -> Iterator[Planned]:
    name, path = orchestrator.redeemer, (*node.path, "redeemer")
    redeemer = fleet.redeemers.get(name) if name is not None else None
    if name is not None and redeemer is not None:
        listener = common.helper_address(fleet, Node("redeemers", name, redeemer), redeemer, orchestrator.host)
        origin = derived("where that redeemer listens", path, ("redeemers", name, "http"))
        yield Argument("redeemerAddr", str(listener), origin)
    elif name is not None:
        yield Argument("redeemerAddr", name, given(*path))
