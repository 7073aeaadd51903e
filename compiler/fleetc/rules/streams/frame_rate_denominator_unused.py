"""A rendition has a divisor for its frame rate, but no frame rate.

Why: fps = 0 keeps the source's frame rate, so fpsDen divides nothing. On a node it still narrows the choice to
orchestrators that support fractional rates.

Example:

    [ladders.live]
    profiles = [{ name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 0, fpsDen = 1001 }]

Instead:

    [ladders.live]
    profiles = [{ name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30000, fpsDen = 1001 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import written_rungs
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every rendition, those of recordings too."""
    for rung in written_rungs(fleet):
        if rung.fps_den is not None and not rung.fps:
            yield warning(
                "frame-rate-denominator-unused",
                f"rendition {rung.title} divides a frame rate that it does not have",
                Label(rung.at("fpsDen")),
                help="remove fpsDen, or write the frame rate: fps = 30000 and fpsDen = 1001 are 29.97",
            )
