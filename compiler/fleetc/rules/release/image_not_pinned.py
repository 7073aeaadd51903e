"""A container image has no fixed version.

Why: a tag such as latest or master moves with every build. The next restart then does not run what you tested, and two
hosts of one fleet run different programs.

Example:

    [ai_workers.w]
    runner_image = "livepeer/ai-runner:latest"

Instead:

    [ai_workers.w]
    runner_image = "livepeer/ai-runner:v0.14.1"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.images import is_pinned, split_image
from fleetc.language.node import AiSettings
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at node images with a moving tag, and at runner images with a moving tag or none."""
    if fleet.fleet.image is not None:
        yield from _image(("fleet", "image"), fleet.fleet.image, tagless_is_pinned=True)
    for name, model in sorted(fleet.models.items()):
        if model.image is not None:
            yield from _image(("models", name, "image"), model.image, tagless_is_pinned=False)
    for name, runner in sorted(fleet.runners.items()):
        if runner.image is not None:
            yield from _image(("runners", name, "image"), runner.image, tagless_is_pinned=False)
    for node in fleet.nodes:
        settings = node.settings
        if settings.image is not None:
            yield from _image((*node.path, "image"), settings.image, tagless_is_pinned=True)
        if isinstance(settings, AiSettings) and settings.runner_image is not None:
            yield from _image((*node.path, "runner_image"), settings.runner_image, tagless_is_pinned=False)


def _image(path: Path, image: str, tagless_is_pinned: bool) -> Iterator[Diagnostic]:
    """A node's image without a tag gets the node release as its tag; a runner image is used as is."""
    tag, digest = split_image(image)
    if is_pinned(tag, digest) or (tagless_is_pinned and not tag and not digest):
        return
    advice = "remove the tag: fleetc then uses the node release" if tagless_is_pinned else "write a version or a digest"
    yield warning(
        "image-not-pinned",
        f"{image} has no fixed version: " + (f"the tag {tag} moves" if tag else "without a tag it is the latest build"),
        Label(path),
        help=f"{advice}, or add @sha256:... of the image you tested",
    )
