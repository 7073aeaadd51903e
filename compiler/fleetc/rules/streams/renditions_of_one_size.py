"""Two renditions of a ladder have the same size.

Why: players choose renditions by size and bit rate. Two of the same size are usually a copy with a forgotten size, and
you pay for each of them.

Example:

    [ladders.live]
    profiles = [
      { name = "480p", width = 640, height = 360, bitrate = 800000, fps = 30 },
      { name = "360p", width = 640, height = 360, bitrate = 1600000, fps = 30 },
    ]

Instead:

    [ladders.live]
    profiles = [
      { name = "360p", width = 640, height = 360, bitrate = 800000, fps = 30 },
      { name = "480p", width = 854, height = 480, bitrate = 1600000, fps = 30 },
    ]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import Rung, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the sizes in each list."""
    for found in rendition_lists(fleet):
        seen: dict[tuple[int | None, int | None], Rung] = {}
        for rung in found.rungs:
            before = seen.setdefault((rung.width, rung.height), rung)
            if before is not rung:
                yield warning(
                    "renditions-of-one-size",
                    f"renditions {before.title} and {rung.title} are both {rung.width} x {rung.height}",
                    Label(rung.at("width"), "here again"),
                    [Label(before.at("width"), "first here")],
                    "give them different sizes, or keep one",
                )
