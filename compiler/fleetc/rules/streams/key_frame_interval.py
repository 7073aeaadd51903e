"""The key frame interval of a rendition means nothing to a node, or something else with its frame rate.

Why: the service accepts any text as gop, but the node that makes the rendition refuses it later, so the stream has no
renditions. Only "intra", in lower case, and plain seconds such as "2" or "0.5" are valid. The node multiplies the
seconds by fps but does not divide by fpsDen: fps = 30000, fpsDen = 1001 and gop = "2" give a key frame every 60,000
frames, once in half an hour. Players wait, and the node cannot cut segments.

Example:

    [streams.main]
    profiles = [{ name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30, gop = "2s" }]

Instead:

    [streams.main]
    profiles = [{ name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30, gop = "2" }]
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import INTRA, plain_gop, recordings, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every list; for a node of this fleet, an interval that none understands is an error elsewhere."""
    for found in rendition_lists(fleet):
        for rung in found.rungs:
            seconds = plain_gop(rung.gop or INTRA) or INTRA
            if rung.fps and (rung.fps_den or 1) > 1 and seconds != INTRA:
                frames = f"{int(Decimal(seconds) * rung.fps)} frames"
                yield warning(
                    "key-frame-interval",
                    f"rendition {rung.title} gets a key frame every {frames}: the node does not divide by fpsDen",
                    Label(rung.at("gop")),
                    [Label(rung.at("fpsDen"), "what it does not divide by")],
                    "write fps = 0 for the source's frame rate, or a whole one such as fps = 30 without fpsDen",
                )
    lists = [found.rungs for found in rendition_lists(fleet) if not found.to_node]
    for rungs in (*lists, *recordings(fleet)):
        for rung in rungs:
            if rung.gop is not None and plain_gop(rung.gop) is None:
                yield warning(
                    "key-frame-interval",
                    f"rendition {rung.title}: no node understands this key frame interval",
                    Label(rung.at("gop")),
                    help='write seconds as text, such as "2" or "0.5", or "intra" for key frames only',
                )
