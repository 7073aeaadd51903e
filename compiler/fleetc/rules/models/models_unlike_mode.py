"""A node is for AI but has no models, or has models but sells only video.

Why: an AI worker without models exits at startup. An orchestrator without models offers nothing that a gateway could
ask for. If it only sells video, its node reads the models, but nothing ever runs or sells them.

Example:

    [ai_workers.w]
    orchestrator = "orch"

Instead:

    [ai_workers.w]
    orchestrator = "orch"
    models = [{ use = "realvis", warm = true }]
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.text.suggestions import one_of


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at AI workers and at orchestrators that sell AI; live runners bring their own models."""
    names = sorted(fleet.models)
    use = json.dumps(names[0] if names else "name")
    others = f", or instead of {names[0]} {one_of(names[1:])}" if len(names) > 1 else ""
    for node in fleet.nodes:
        settings = node.settings
        if isinstance(settings, Orchestrator) and settings.mode == "video" and settings.models:
            yield error(
                "models-unlike-mode",
                f"orchestrator {node.name} has models but sells only video",
                Label((*node.path, "models"), "never used"),
                [Label((*node.path, "mode"), "video only")],
                'write mode = "dual", or remove the models',
            )
        if not isinstance(settings, Orchestrator | AiWorker) or settings.models or not effective.serves_ai(node):
            continue
        if effective.live_runners_alone(fleet, node).value:
            continue
        yield error(
            "models-unlike-mode",
            f"{node.name} is for AI but has no models",
            Label(node.path if isinstance(settings, AiWorker) else (*node.path, "mode"), "AI"),
            help=f"write models = [{{ use = {use}, warm = true }}]"
            + (others if names else ", and define the model under [models]"),
        )
