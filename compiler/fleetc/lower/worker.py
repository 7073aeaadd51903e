"""Lowers remote workers: transcoders and AI workers that serve an orchestrator on another host.

In: a fleet and one of its remote workers. Out: a `Service`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import Argument, Service
from fleetc.language.fleet import Fleet, Node
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.lower import common
from fleetc.lower.gateway import address_paths, orchestrator_address
from fleetc.lower.mapping import Planned, secret
from fleetc.lower.models import model_arguments, models_file
from fleetc.places.origin import default, derived, given


def lower_transcoder(fleet: Fleet, node: Node, transcoder: Transcoder) -> Service:
    """The service of one remote transcoder."""
    items = [
        common.role_flag("transcoder", node, "its table in the spec"),
        *common.settings_of_every_node(fleet, node),
        *_orchestrator(fleet, node, transcoder),
        *common.gpus(fleet, node),
    ]
    return common.service(fleet, node, "transcoder", items)


def lower_ai_worker(fleet: Fleet, node: Node, worker: AiWorker) -> Service:
    """The service of one remote AI worker."""
    items = [
        common.role_flag("aiWorker", node, "its table in the spec"),
        *common.settings_of_every_node(fleet, node),
        *_orchestrator(fleet, node, worker),
        *common.gpus(fleet, node),
        *model_arguments(fleet, node, worker, works=True),
        *_creator(node, worker),
    ]
    return common.service(
        fleet, node, "ai-worker", items, models_file(fleet, node, worker, priced=False), containers=True
    )


def _orchestrator(fleet: Fleet, node: Node, worker: Transcoder | AiWorker) -> Iterator[Planned]:
    path = (*node.path, "orchestrator")
    if worker.orchestrator in fleet.orchestrators:
        origin = derived("the service address of that orchestrator", path, *address_paths(fleet, worker.orchestrator))
        yield Argument("orchAddr", orchestrator_address(fleet, worker.orchestrator), origin)
        shared = fleet.orchestrators[worker.orchestrator].secret
        if worker.secret is None and shared is not None:
            origin = derived("the secret of its orchestrator", ("orchestrators", worker.orchestrator, "secret"))
            yield secret("orchSecret", shared, origin)
    else:
        yield Argument("orchAddr", worker.orchestrator, given(*path))


def _creator(node: Node, worker: AiWorker) -> Iterator[Planned]:
    """The label of runner containers: when a worker starts, it removes those with its own label."""
    if worker.runner_label is not None:
        yield Argument("serviceAddr", worker.runner_label, given(*node.path, "runner_label"))
    else:
        reason = "its own label, so that it never removes another worker's containers"
        yield Argument("serviceAddr", node.name, default(reason, node.path))
