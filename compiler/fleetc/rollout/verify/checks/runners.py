"""Whether the runner containers of a node answer where models are to be warm, and see their GPU.

In: a node and its answers. Out: findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.node import AiSettings
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import Finding, NodeSeen, UnknownError
from fleetc.rollout.verify.questions import runners_of
from fleetc.upstream import PIPELINES


def warm_runners(seen: NodeSeen) -> Iterator[Finding]:
    """/health and /hardware/stats of runners. A cold model has a container only while it works.

    The node chooses the GPU of a container, so a pipeline has more places than containers: it is how many answer there
    that counts.
    """
    for pipeline, wanted in _warm(seen).items():
        places = [
            where for where in runners_of(seen.host, seen.service) if _prefix(where) == PIPELINES[pipeline].port_prefix
        ]
        well = [where for where in places if _status(seen, where) == 200]
        if len(well) < wanted:
            states = ", ".join(_told(seen, where) for where in places if where not in well)
            message = f"{len(well)} of its {wanted} warm {pipeline} runners answer ({states})"
            yield seen.found("drift", "runner-silent", message, "models")
        if effective.gpu_ids(seen.fleet, seen.node):
            for where in well:
                stats = replies.mapping(seen.reply(where, "/hardware/stats"), "/hardware/stats")
                if not stats.get("gpu_stats", stats.get("gpus")):
                    yield seen.found("drift", "runner-without-gpu", f"the runner at {where} sees no GPU", "gpus")


def _warm(seen: NodeSeen) -> dict[str, int]:
    """How many containers the node keeps warm, by pipeline."""
    node = seen.node
    warm: Counter[str] = Counter()
    if not effective.runs_models(seen.fleet, node).value:
        return warm
    for use in node.settings.models if isinstance(node.settings, AiSettings) else ():
        pipeline = seen.fleet.models[use.use].pipeline
        if use.warm and effective.managed(use) and pipeline in PIPELINES:
            warm[pipeline] += effective.warm_containers(seen.fleet, node, use)
    return warm


def _prefix(where: str) -> int:
    return int(where.rpartition(":")[2]) // 100


def _status(seen: NodeSeen, where: str) -> int:
    try:
        return seen.reply(where, "/health").status
    except UnknownError:
        return 0


def _told(seen: NodeSeen, where: str) -> str:
    """The finding for a missing or unhealthy runner."""
    status = _status(seen, where)
    return f"{where} answers {status}" if status else f"{where} does not answer"
