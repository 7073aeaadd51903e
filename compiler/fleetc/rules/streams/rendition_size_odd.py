"""A rendition has an odd width or height.

Why: H.264 stores colours for blocks of two by two pixels, so encoders round odd sizes. Players then get another size.

Example:

    [ladders.live]
    profiles = [{ name = "480p", width = 853, height = 480, bitrate = 1600000, fps = 30 }]

Instead:

    [ladders.live]
    profiles = [{ name = "480p", width = 854, height = 480, bitrate = 1600000, fps = 30 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import written_rungs
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every rendition, those of recordings too."""
    for rung in written_rungs(fleet):
        for key, side in (("width", rung.width), ("height", rung.height)):
            if side is not None and side % 2:
                yield warning(
                    "rendition-size-odd",
                    f"rendition {rung.title} has the odd {key} {side}, which encoders round",
                    Label(rung.at(key)),
                    help=f"write {key} = {side + 1}",
                )
