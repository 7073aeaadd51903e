"""A rendition gets another size than the spec has.

Why: H.264 stores colours for blocks of two by two pixels, so encoders round odd sizes. Nodes make pictures of 146 to
4096 by 50 to 4096 pixels, and silently change sizes that only the service accepts.

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
from fleetc.language.renditions import rendition_lists, written_rungs
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.upstream.stream_api import NODE_BOUNDS

_LEAST = {"width": NODE_BOUNDS.least_width, "height": NODE_BOUNDS.least_height}


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every rendition; for a node of this fleet, a size that nodes do not make is an error elsewhere."""
    for rung in written_rungs(fleet):
        for key, side in (("width", rung.width), ("height", rung.height)):
            if side is not None and side % 2:
                message = f"rendition {rung.title} has the odd {key} {side}, which encoders round"
                yield warning("rendition-size", message, Label(rung.at(key)), help=f"write {key} = {side + 1}")
    for found in rendition_lists(fleet):
        for rung in found.rungs if not found.to_node else ():
            for key, side in (("width", rung.width), ("height", rung.height)):
                if side is not None and not _LEAST[key] <= side <= NODE_BOUNDS.greatest_side:
                    range_ = f"{_LEAST[key]} to {NODE_BOUNDS.greatest_side}"
                    message = f"rendition {rung.title} has the {key} {side}, but nodes make {range_}"
                    yield warning("rendition-size", message, Label(rung.at(key)), help=f"write a {key} from {range_}")
