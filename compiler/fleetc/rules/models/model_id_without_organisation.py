"""A model's id has no organisation in front.

Why: ids are compared letter by letter, organisation included. Requests for the model find nobody, and its weights are
not found either.

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
    """Look at all models but live ones, whose ids are names of applications, and local tags, which have a rule."""
    for name, model in sorted(fleet.models.items()):
        organisation, slash, rest = model.id.partition("/")
        if model.pipeline == "live-video-to-video" or ":" in model.id or (organisation and slash and rest):
            continue
        yield error(
            "model-id-without-organisation",
            f'"{model.id}" is not a full model id: the organisation is missing',
            Label(("models", name, "id")),
            help=f'write it with the organisation, as on HuggingFace: "organisation/{rest or organisation or "model"}"',
        )
