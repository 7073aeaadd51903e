"""Whether the runner containers of a node answer where models are to be warm, and see their GPU.

In: a node and its answers. Out: findings.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.node import AiSettings
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.checks.accounts import node_of
from fleetc.rollout.verify.data import Found, NodeSeen
from fleetc.rollout.verify.questions import runners_of
from fleetc.upstream import PIPELINES


def warm_runners(seen: NodeSeen) -> Iterator[Found]:
    """/health and /hardware/stats of runners. A cold model has a container only while it works."""
    settings = node_of(seen).settings
    if not isinstance(settings, AiSettings):
        return
    warm = {seen.fleet.models[use.use].pipeline for use in settings.models if use.warm and use.url is None}
    prefixes = {str(PIPELINES[pipeline].port_prefix): pipeline for pipeline in warm if pipeline in PIPELINES}
    for where in runners_of(seen.service):
        pipeline = prefixes.get(where.rpartition(":")[2][:2])
        reply = seen.replies.get(_id(seen, where, "/health"))
        if pipeline is None or reply is None:
            continue
        if reply.status != 200:
            said = f"answers {reply.status}" if reply.status else f"does not answer: {reply.reason}"
            message = f"the runner of its warm {pipeline} model at {where} {said}"
            yield seen.found("drift", "runner-silent", message, "models")
            continue
        stats = replies.mapping(seen.reply(where, "/hardware/stats"), "/hardware/stats")
        gpus = stats.get("gpu_stats", stats.get("gpus"))
        if not gpus:
            yield seen.found("drift", "runner-without-gpu", f"the runner at {where} sees no GPU", "gpus")


def _id(seen: NodeSeen, where: str, path: str) -> str:
    return f"{seen.service.name} {where}{path}"
