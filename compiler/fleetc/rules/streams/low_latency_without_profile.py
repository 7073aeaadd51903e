"""A ladder for a node has frequent key frames but no H.264 profile.

Why: without a profile, encoders use B-frames (three in a row in software), which cost the time that short key frame
intervals save. The service fills in H264ConstrainedHigh, which has no such frames; a node does not.

Example:

    [ladders.live]
    profiles = [{ name = "a", width = 640, height = 360, bitrate = 800000, fps = 30, gop = "1" }]

Instead:

    [ladders.live]
    profiles = [
      { name = "a", width = 640, height = 360, bitrate = 800000, fps = 30, gop = "1", profile = "H264ConstrainedHigh" },
    ]
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import INTRA, plain_gop, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, warning

_SHORT = Decimal(1)
"""At most so many seconds between key frames mean low latency."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the lists that a node of this fleet gets."""
    for found in rendition_lists(fleet):
        for rung in found.rungs if found.to_node else ():
            seconds = plain_gop(rung.gop or INTRA) or INTRA
            short = seconds != INTRA and 0 < Decimal(seconds) <= _SHORT
            if short and rung.profile is None and rung.encoder in (None, "H.264"):
                yield warning(
                    "low-latency-without-profile",
                    f"rendition {rung.title} has a key frame every {seconds} s, but its encoder may still wait for "
                    "later frames",
                    Label(rung.at("gop")),
                    help='write profile = "H264ConstrainedHigh", which is what the stream API fills in',
                )
