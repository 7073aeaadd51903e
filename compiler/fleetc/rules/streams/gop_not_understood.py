"""The key frame interval is neither a number nor "intra".

Why: the service accepts any text as gop, but the node that makes the rendition refuses it later, so the stream has no
renditions. Only "intra", in lower case, and plain seconds such as "2" or "0.5" are valid.

Example:

    [streams.main]
    profiles = [{ name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30, gop = "2s" }]

Instead:

    [streams.main]
    profiles = [{ name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30, gop = "2" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import plain_gop, recordings, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the lists that only the service gets; in a list for a node of this fleet it is an error."""
    lists = [found.rungs for found in rendition_lists(fleet) if not found.to_node]
    for rungs in (*lists, *recordings(fleet)):
        for rung in rungs:
            if rung.gop is not None and plain_gop(rung.gop) is None:
                yield warning(
                    "gop-not-understood",
                    f"rendition {rung.title}: no node understands this key frame interval",
                    Label(rung.at("gop")),
                    help='write seconds as text, such as "2" or "0.5", or "intra" for key frames only',
                )
