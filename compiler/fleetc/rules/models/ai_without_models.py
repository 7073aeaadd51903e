"""A node is for AI but has no models.

Why: an AI worker without models exits at startup. An orchestrator without models offers nothing that a gateway could
ask for.

Example:

    [ai_workers.w]
    orchestrator = "orch"

Instead:

    [ai_workers.w]
    orchestrator = "orch"
    models = [{ use = "realvis", warm = true }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.text.suggestions import one_of


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at AI workers and at orchestrators that sell AI; live runners bring their own models."""
    models = one_of(sorted(fleet.models) or ["name"])
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, Orchestrator | AiWorker) or settings.models or not effective.serves_ai(node):
            continue
        if effective.live_runners_alone(fleet, node).value:
            continue
        yield error(
            "ai-without-models",
            f"{node.name} is for AI but has no models",
            Label(node.path if isinstance(settings, AiWorker) else (*node.path, "mode"), "AI"),
            help=f"write models = [{{ use = {models}, warm = true }}]"
            + ("" if fleet.models else ", and define the model under [models]"),
        )
