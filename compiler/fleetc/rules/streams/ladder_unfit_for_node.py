"""The node does not accept a value in its list of renditions.

Why: the node silently changes sizes outside 146 to 4096 by 50 to 4096 pixels, stores bit rates in 32 bits, and puts
names into paths. It stops unless gop is seconds or "intra". It gets its own ladder and those of its streams.

Example:

    [gateways.gate]
    ladder = "live"

    [ladders.live]
    profiles = [{ name = "tiny", width = 100, height = 100, bitrate = 100000, fps = 0 }]

Instead:

    [gateways.gate]
    ladder = "live"

    [ladders.live]
    profiles = [{ name = "tiny", width = 160, height = 160, bitrate = 100000, fps = 0 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import PLAIN_NAME, Renditions, Rung, plain_gop, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, Path, error
from fleetc.upstream.stream_api import NODE_BOUNDS

_GREATEST_RATE = 1_000_000


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each list that a node reads from its file or from the answer of a webhook."""
    for found in rendition_lists(fleet):
        for rung in found.rungs if found.to_node else ():
            for place, what, advice in _faults(rung):
                yield error(
                    "ladder-unfit-for-node",
                    f"{_user(fleet, found)} cannot have rendition {rung.title}: {what}",
                    Label(place),
                    [Label(_used(fleet, found), "used here")],
                    advice,
                )


def _user(fleet: Fleet, found: Renditions) -> str:
    gateway = found.files[0] if found.files else fleet.streams[found.answers[0]].gateway
    return f"gateway {gateway}"


def _used(fleet: Fleet, found: Renditions) -> Path:
    """The key that gives the list to a node."""
    for gateway in found.files:
        if fleet.gateways[gateway].ladder is not None:
            return ("gateways", gateway, "ladder")
    return ("streams", found.answers[0], "gateway")


def _faults(rung: Rung) -> Iterator[tuple[Path, str, str]]:
    """What the node does not accept: the place, why, and what to write."""
    greatest = NODE_BOUNDS.greatest_side
    sides = (("width", rung.width, NODE_BOUNDS.least_width), ("height", rung.height, NODE_BOUNDS.least_height))
    for key, side, least in sides:
        if side is not None and not least <= side <= greatest:
            yield (
                rung.at(key),
                f"its {key} is {side}, which the node changes",
                f"write {key} from {least} to {greatest}",
            )
    if rung.bitrate > NODE_BOUNDS.greatest_bitrate:
        greatest_rate = NODE_BOUNDS.greatest_bitrate
        yield rung.at("bitrate"), "its bit rate does not fit 32 bits", f"write {greatest_rate} or less"
    if (rung.fps or 0) > _GREATEST_RATE or (rung.fps_den or 1) > _GREATEST_RATE:
        yield rung.at("fps"), "its frame rate is too high", f"write {_GREATEST_RATE} or less for fps and fpsDen"
    if rung.gop is not None and plain_gop(rung.gop) is None:
        what = "its key frame interval is not a number"
        yield rung.at("gop"), what, 'write seconds as text, such as "2.0", or "intra"'
    if not PLAIN_NAME.fullmatch(rung.name or ""):
        yield rung.at("name"), "its name becomes part of paths", 'use letters, digits and . _ -, such as "720p"'
