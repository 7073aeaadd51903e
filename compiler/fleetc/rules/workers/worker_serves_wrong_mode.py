"""A remote worker does work that its orchestrator does not sell.

Why: the worker runs and costs money, but gets no work.

Example:

    [transcoders.t]
    orchestrator = "orch"

    [orchestrators.orch]
    mode = "ai"

Instead:

    [orchestrators.orch]
    mode = "dual"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error

_WORK = {"transcoders": ("video", "transcodes"), "ai_workers": ("ai", "runs AI models")}


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare each worker of this fleet with the mode of its orchestrator."""
    for name, workers in fleet.workers_by_orchestrator.items():
        mode = fleet.orchestrators[name].mode
        for worker in workers:
            work, does = _WORK[worker.table]
            if mode not in (work, "dual"):
                yield error(
                    "worker-serves-wrong-mode",
                    f"{worker.name} {does}, but its orchestrator {name} sells only {'AI' if mode == 'ai' else mode}",
                    Label((*worker.path, "orchestrator")),
                    [Label(("orchestrators", name, "mode"), name)],
                    f'write mode = "dual" in orchestrators.{name}, or name another orchestrator',
                )
