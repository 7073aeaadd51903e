"""A remote worker of an orchestrator outside the fleet has no secret to present.

Why: the node of a transcoder or AI worker exits at startup without one.

Example:

    [transcoders.t]
    orchestrator = "orch.example.net:8935"

Instead:

    [transcoders.t]
    orchestrator = "orch.example.net:8935"
    secret = { host_file = "/etc/livepeer/orchestrator-secret" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at workers of other people's orchestrators; one of this fleet shares its secret with its workers."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Transcoder | AiWorker) or settings.secret is not None:
            continue
        if settings.orchestrator not in fleet.orchestrators:
            yield error(
                "worker-without-secret",
                f"{node.name} serves {settings.orchestrator} but has no secret to present there",
                Label((*node.path, "orchestrator"), "outside this fleet"),
                help='write secret = { host_file = "/etc/livepeer/orchestrator-secret" }',
            )
