"""A model's id has no organisation in front.

Why: ids are compared exactly, including the organisation. Requests for the model find no orchestrator, and its weights
cannot be downloaded.

Example:

    [models.realvis]
    pipeline = "text-to-image"
    id = "RealVisXL_V4.0_Lightning"

Instead:

    [models.realvis]
    pipeline = "text-to-image"
    id = "SG161222/RealVisXL_V4.0_Lightning"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at all models except live ones (their ids are application names) and local tags (another rule)."""
    for name, model in sorted(fleet.models.items()):
        organisation, slash, rest = model.id.partition("/")
        if model.pipeline == "live-video-to-video" or ":" in model.id or (organisation and slash and rest):
            continue
        yield error(
            "model-id-without-organisation",
            f'"{model.id}" is not a complete model id: the organisation is missing',
            Label(("models", name, "id")),
            help=f'write it with the organisation, as on HuggingFace: "organisation/{rest or organisation or "model"}"',
        )
