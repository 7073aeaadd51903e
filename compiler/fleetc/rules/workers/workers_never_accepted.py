"""An orchestrator does its own work, so it never accepts the remote workers that name it.

Why: a process that transcodes or runs models itself refuses remote transcoders or AI workers. Their machines are idle,
and the side that pays for them sees no error.

Example:

    [orchestrators.orch]
    transcoding = "local"

    [transcoders.t]
    orchestrator = "orch"

Instead:

    [orchestrators.orch]
    transcoding = "remote"

    [transcoders.t]
    orchestrator = "orch"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Diagnostic, Label, error

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the orchestrators that remote workers of this fleet name."""
    for name, workers in fleet.workers_by_orchestrator.items():
        orchestrator = fleet.orchestrators[name]
        if orchestrator.transcoding == "local":
            yield from _refused(name, "transcoding", [w for w in workers if w.table == "transcoders"])
        if orchestrator.ai_work == "local":
            yield from _refused(name, "ai_work", [w for w in workers if w.table == "ai_workers"])


def _refused(name: str, key: str, workers: list[Node]) -> Iterator[Diagnostic]:
    if workers:
        one = workers[0].name if len(workers) == 1 else f"{len(workers)} nodes"
        yield error(
            "workers-never-accepted",
            f'orchestrator {name} never accepts the work of {one}: {key} = "local" does it all inside the process',
            Label(("orchestrators", name, key)),
            [Label((*worker.path, "orchestrator"), worker.name) for worker in workers[:_SHOWN]],
            f'write {key} = "remote", which ends the work of its own GPUs, or remove the workers',
        )
