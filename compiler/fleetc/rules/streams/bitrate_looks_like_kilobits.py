"""A rendition has so low a bit rate that it seems to be written in kilobits.

Why: bit rates are bits a second everywhere here. 3000 instead of 3000000 is accepted by the service and by the node,
and viewers get a picture of a few blocks.

Example:

    [ladders.live]
    profiles = [{ name = "720p", width = 1280, height = 720, bitrate = 3000, fps = 30 }]

Instead:

    [ladders.live]
    profiles = [{ name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import written_rungs
from fleetc.places.diagnostic import Diagnostic, Label, warning

_LEAST_LIKELY = 20_000
"""Bits a second below which no picture worth sending fits."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every rendition, those of recordings too."""
    for rung in written_rungs(fleet):
        if rung.bitrate < _LEAST_LIKELY:
            yield warning(
                "bitrate-looks-like-kilobits",
                f"rendition {rung.title} has {rung.bitrate} bits a second, which looks like kilobits",
                Label(rung.at("bitrate")),
                help=f"if it is kilobits, write bits a second: bitrate = {rung.bitrate * 1000}",
            )
