"""An AI worker runs an older release than its orchestrator.

Why: the orchestrator refuses it. The worker keeps running and never gets any work.

Example:

    [orchestrators.orch]
    node_release = "v0.9.1"

    [ai_workers.w]
    orchestrator = "orch"
    node_release = "v0.9.0"

Instead:

    [ai_workers.w]
    orchestrator = "orch"
    node_release = "v0.9.1"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream import format_release


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the releases of AI workers with those of their orchestrators in this fleet; transcoders may differ."""
    for name, workers in fleet.workers_by_orchestrator.items():
        its = effective.release_of(fleet, Node("orchestrators", name, fleet.orchestrators[name]))
        for worker in workers:
            own = effective.release_of(fleet, worker)
            if worker.table != "ai_workers" or own.value >= its.value:
                continue
            wanted = format_release(its.value)
            yield error(
                "worker-older-than-orchestrator",
                f"orchestrator {name} runs {wanted} and refuses AI worker {worker.name}, which runs an older release",
                Label((*worker.path, "orchestrator")),
                [
                    Label(own.origin.paths[0], f"{worker.name} runs this"),
                    Label(its.origin.paths[0], f"{name} runs this"),
                ],
                f'write node_release = "{wanted}" for {worker.name} too',
            )
