"""A model's pipeline does not exist.

Why: the node panics at startup if it reads a pipeline that it does not know. Names are lower-case, with hyphens.

Fix: `fleetc check --fix` repairs the spelling if only case, spaces or underscores are wrong.

Example:

    [models.realvis]
    pipeline = "Text-To-Image"

Instead:

    [models.realvis]
    pipeline = "text-to-image"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, fix_set
from fleetc.upstream import PIPELINES


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every model, used or not."""
    for name, model in sorted(fleet.models.items()):
        if model.pipeline in PIPELINES:
            continue
        lower = model.pipeline.strip().lower().replace("_", "-").replace(" ", "-")
        yield error(
            "unknown-pipeline",
            f'there is no pipeline "{model.pipeline}"',
            Label(("models", name, "pipeline")),
            help=fleet.suggestions.did_you_mean(lower, PIPELINES),
            fix=fix_set(("models", name, "pipeline"), lower) if lower in PIPELINES else None,
        )
