"""A node lists one model both warm and cold.

Why: the node panics at startup.

Example:

    [ai_workers.w]
    models = [{ use = "realvis", warm = true }, { use = "realvis" }]

Instead:

    [ai_workers.w]
    models = [{ use = "realvis", warm = true }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.node import AiSettings
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each node that runs models; two names with the same pipeline and id are one model."""
    for node in fleet.nodes:
        settings = node.settings
        if not isinstance(settings, AiSettings) or not effective.runs_models(fleet, node).value:
            continue
        seen: dict[tuple[str, str], int] = {}
        for index, use in enumerate(settings.models):
            model = fleet.models[use.use]
            first = seen.setdefault((model.pipeline, model.id), index)
            before = settings.models[first]
            if before.warm != use.warm:
                path = (*node.path, "models")
                yield error(
                    "model-listed-warm-and-cold",
                    f"{node.name} lists model {use.use} both warm and cold",
                    Label((*path, index), "warm" if use.warm else "cold"),
                    [Label((*path, first), "warm" if before.warm else "cold")],
                    "keep one of the entries, or make both warm",
                )
