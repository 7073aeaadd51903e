"""Two models of one node need different runner images, but the node uses one for both.

Why: the node picks a runner's image by its pipeline, and for live video by its model. One of two images would silently
win, and the other model would run in a container that may not even know it. A model without its own image runs in the
image of the other one.

Example:

    [models.realvis]
    pipeline = "text-to-image"
    id = "SG161222/RealVisXL_V4.0_Lightning"
    image = "example/runner:v1.0.0"

    [models.flux]
    pipeline = "text-to-image"
    id = "black-forest-labs/FLUX.1-schnell"
    image = "example/flux:v1.0.0"

Instead:

    [models.realvis]
    pipeline = "text-to-image"
    id = "SG161222/RealVisXL_V4.0_Lightning"
    image = "example/runner:v1.0.0"

    [models.flux]
    pipeline = "text-to-image"
    id = "black-forest-labs/FLUX.1-schnell"
    image = "example/runner:v1.0.0"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.host import Model
from fleetc.language.node import AiSettings
from fleetc.places.diagnostic import Diagnostic, Label, error, warning

_SHOWN = 6


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the models whose containers each node starts itself; those managed elsewhere bring their own image."""
    for node in fleet.nodes:
        settings = node.settings
        if isinstance(settings, AiSettings) and effective.runs_models(fleet, node).value:
            groups: dict[tuple[str, str], dict[str, int]] = {}
            for index, use in enumerate(settings.models):
                if effective.managed(use):
                    groups.setdefault(_slot(fleet.models[use.use]), {}).setdefault(use.use, index)
            for models in groups.values():
                yield from _conflicts(fleet, node, models)


def _slot(model: Model) -> tuple[str, str]:
    """What the node uses one image for."""
    return model.pipeline, model.id if model.pipeline == "live-video-to-video" else ""


def _conflicts(fleet: Fleet, node: Node, models: dict[str, int]) -> Iterator[Diagnostic]:
    with_image = [name for name in models if fleet.models[name].image is not None]
    if not with_image:
        return
    first = with_image[0]
    image = fleet.models[first].image
    others = [name for name in with_image if fleet.models[name].image != image]
    if others:
        yield error(
            "runner-image-conflict",
            f"{node.name} runs models {first} and {others[0]}, but its node uses one image for both",
            Label(("models", others[0], "image")),
            [Label(("models", name, "image"), name) for name in (first, *others[1:_SHOWN])],
            "give both the same image, or run one of them on another node",
        )
    without = [name for name in models if fleet.models[name].image is None]
    if without and not others:
        yield warning(
            "runner-image-conflict",
            f"{node.name} runs model {without[0]} in the image of {first}: its node uses one image for both",
            Label((*node.path, "models", models[without[0]]), "names no image"),
            [Label(("models", first, "image"), first)],
            f'write image = "{image}" in models.{without[0]} too, or run it on another node',
        )
