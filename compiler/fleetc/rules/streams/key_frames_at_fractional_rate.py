"""A rendition has a key frame interval and a fractional frame rate.

Why: the node multiplies the seconds by fps but does not divide by fpsDen. fps = 30000, fpsDen = 1001 and gop = "2" give
a key frame every 60,000 frames, once in half an hour. Players wait, and the node cannot cut segments.

Example:

    [ladders.live]
    profiles = [{ name = "a", width = 640, height = 360, bitrate = 800000, fps = 30000, fpsDen = 1001, gop = "2" }]

Instead:

    [ladders.live]
    profiles = [{ name = "a", width = 640, height = 360, bitrate = 800000, fps = 30, gop = "2" }]
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import INTRA, plain_gop, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every rendition that a node makes: nodes make those of the service too."""
    for found in rendition_lists(fleet):
        for rung in found.rungs:
            seconds = plain_gop(rung.gop or INTRA) or INTRA
            if rung.fps and (rung.fps_den or 1) > 1 and seconds != INTRA:
                yield warning(
                    "key-frames-at-fractional-rate",
                    f"rendition {rung.title} gets a key frame every {_frames(seconds, rung.fps)} frames: the node does "
                    "not divide by fpsDen",
                    Label(rung.at("gop")),
                    [Label(rung.at("fpsDen"), "what it does not divide by")],
                    "write fps = 0 for the source's frame rate, or a whole one such as fps = 30 without fpsDen",
                )


def _frames(seconds: str, fps: int) -> int:
    return int(Decimal(seconds) * fps)
