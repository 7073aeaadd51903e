"""The renditions of a ladder are not in order from small to large.

Why: players start with the first rendition of a playlist. If that is the largest, viewers with slow connections wait at
the start. Readers of the spec also expect a ladder.

Example:

    [ladders.live]
    profiles = [
      { name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30 },
      { name = "360p", width = 640, height = 360, bitrate = 800000, fps = 30 },
    ]

Instead:

    [ladders.live]
    profiles = [
      { name = "360p", width = 640, height = 360, bitrate = 800000, fps = 30 },
      { name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30 },
    ]
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import Rung, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each list and report the first step down."""
    for found in rendition_lists(fleet):
        for before, rung in pairwise(found.rungs):
            if _height(rung) < _height(before):
                yield warning(
                    "ladder-not-ascending",
                    f"rendition {rung.title} is smaller than {before.title} before it",
                    Label(rung.path),
                    [Label(before.path, "the larger one")],
                    "write the renditions from small to large",
                )
                break


def _height(rung: Rung) -> tuple[int, int]:
    """How high a rung is: its pixels, then its bit rate."""
    return (rung.width or 0) * (rung.height or 0), rung.bitrate
