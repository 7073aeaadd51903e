"""An orchestrator that only sells video has models.

Why: its node reads the models, but nothing ever runs or sells them.

Example:

    [orchestrators.orch]
    mode = "video"
    models = [{ use = "realvis" }]

Instead:

    [orchestrators.orch]
    mode = "dual"
    models = [{ use = "realvis" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the orchestrators of mode video."""
    for name, orchestrator in sorted(fleet.orchestrators.items()):
        if orchestrator.mode == "video" and orchestrator.models:
            yield error(
                "models-without-ai",
                f"orchestrator {name} has models but sells only video",
                Label(("orchestrators", name, "models"), "never used"),
                [Label(("orchestrators", name, "mode"), "video only")],
                'write mode = "dual", or remove the models',
            )
