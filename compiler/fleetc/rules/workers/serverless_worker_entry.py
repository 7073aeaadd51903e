"""A serverless AI worker does not have exactly the one model that it can pass on.

Why: the node exits at startup with status 0, unless its list is exactly one live-video-to-video model "scope" with the
provider's address and a capacity.

Example:

    [ai_workers.w]
    serverless = true
    models = [{ use = "scope" }]

Instead:

    [ai_workers.w]
    serverless = true
    models = [{ use = "scope", url = "wss://provider.example.net/ws", capacity = 4 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the serverless workers that have models; those without any have their own rule."""
    for name, worker in sorted(fleet.ai_workers.items()):
        wrong = _wrong(fleet, worker) if worker.serverless and worker.models else ""
        if wrong:
            yield error(
                "serverless-worker-entry",
                f"serverless AI worker {name} {wrong}",
                Label(("ai_workers", name, "models")),
                [Label(("ai_workers", name, "serverless"), "serverless")],
                'write models = [{ use = "...", url = "wss://...", capacity = 4 }] with the live model "scope"',
            )


def _wrong(fleet: Fleet, worker: AiWorker) -> str:
    """What is wrong with the list, or ""."""
    if len(worker.models) > 1:
        return f"has {len(worker.models)} models, but its node takes one"
    use = worker.models[0]
    model = fleet.models[use.use]
    if (model.pipeline, model.id) != ("live-video-to-video", "scope"):
        return f"has model {use.use}, but its node only passes on the live model scope"
    if use.url is None:
        return "has no provider address"
    return "" if use.capacity is not None else "has no capacity"
