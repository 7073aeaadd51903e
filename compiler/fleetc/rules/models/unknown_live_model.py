"""The node has no runner image for a live model.

Why: the node picks the image of a live-video-to-video runner by the model id. Without an image it exits at startup,
with status 0.

Example:

    [models.live]
    pipeline = "live-video-to-video"
    id = "streamdifusion"

Instead:

    [models.live]
    pipeline = "live-video-to-video"
    id = "streamdiffusion"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream import LIVE_MODEL_IDS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at live models without their own image."""
    for name, model in sorted(fleet.models.items()):
        if model.pipeline != "live-video-to-video" or model.image is not None or ":" in model.id:
            continue
        if model.id not in LIVE_MODEL_IDS:
            yield error(
                "unknown-live-model",
                f'the node has no runner image for the live model "{model.id}"',
                Label(("models", name, "id")),
                help=fleet.suggestions.did_you_mean(model.id, LIVE_MODEL_IDS)
                + ' Or set its image: image = "registry/name:tag"',
            )
