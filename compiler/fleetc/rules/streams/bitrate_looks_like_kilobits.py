"""A rendition's bit rate is so low that it is probably in kilobits.

Why: all bit rates here are in bits per second. The service and the node accept 3000 instead of 3000000, and viewers get
a picture of a few blocks.

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
"""Bits per second below which no useful picture is possible."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every rendition, those of recordings too."""
    for rung in written_rungs(fleet):
        if rung.bitrate < _LEAST_LIKELY:
            yield warning(
                "bitrate-looks-like-kilobits",
                f"rendition {rung.title} has {rung.bitrate} bits per second, which looks like kilobits",
                Label(rung.at("bitrate")),
                help=f"if it is kilobits, write bits per second: bitrate = {rung.bitrate * 1000}",
            )
