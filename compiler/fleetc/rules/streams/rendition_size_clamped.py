"""A rendition of a stream is smaller or larger than nodes can make.

Why: nodes make pictures of 146 to 4096 by 50 to 4096 pixels and silently change other sizes. The service accepts other
sizes, so viewers get a size that differs from the resource.

Example:

    [streams.main]
    profiles = [{ name = "tiny", width = 128, height = 128, bitrate = 100000, fps = 15 }]

Instead:

    [streams.main]
    profiles = [{ name = "tiny", width = 160, height = 160, bitrate = 100000, fps = 15 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.upstream.stream_api import NODE_BOUNDS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the lists that only the service gets; for a node of this fleet, such a size is an error."""
    for found in rendition_lists(fleet):
        for rung in found.rungs if not found.to_node else ():
            for key, side, least in (
                ("width", rung.width, NODE_BOUNDS.least_width),
                ("height", rung.height, NODE_BOUNDS.least_height),
            ):
                if side is not None and not least <= side <= NODE_BOUNDS.greatest_side:
                    yield warning(
                        "rendition-size-clamped",
                        f"rendition {rung.title} has the {key} {side}, but nodes make {least} to "
                        f"{NODE_BOUNDS.greatest_side}",
                        Label(rung.at(key)),
                        help=f"write a {key} from {least} to {NODE_BOUNDS.greatest_side}",
                    )
