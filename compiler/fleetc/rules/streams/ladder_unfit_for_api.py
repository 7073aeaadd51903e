"""The stream API refuses a value in the ladder of a stream.

Why: the API and the node read the same keys with different limits. The API requires at least 128 pixels per side, 400
bits per second, a frame rate and H.264, without a colour depth. If one value is different, the API refuses the whole
stream.

Example:

    [ladders.live]
    profiles = [{ name = "120p", width = 214, height = 120, bitrate = 200000, fps = 0 }]

    [streams.main]
    ladder = "live"

Instead:

    [ladders.live]
    profiles = [{ name = "144p", width = 256, height = 144, bitrate = 200000, fps = 0 }]

    [streams.main]
    ladder = "live"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import Rung, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each ladder in the payload of a stream; the types of a stream's own profiles already ensure this."""
    for found in rendition_lists(fleet):
        if not found.streams or found.path[0] != "ladders":
            continue
        stream = found.streams[0]
        for rung in found.rungs:
            for place, what, advice in _faults(rung):
                yield error(
                    "ladder-unfit-for-api",
                    f"stream {stream} cannot have rendition {rung.title}: {what}",
                    Label(place),
                    [Label(("streams", stream, "ladder"), "used here")],
                    f"{advice}, or give the stream its own ladder",
                )


def _faults(rung: Rung) -> Iterator[tuple[Path, str, str]]:
    """What the API refuses: the place, why, and what to write."""
    for key, side in (("width", rung.width), ("height", rung.height)):
        if side is not None and side < 128:
            yield rung.at(key), f"its {key} is {side}, less than 128", f"write {key} = 128 or more"
    if rung.bitrate < 400:
        yield rung.at("bitrate"), f"its bit rate is {rung.bitrate}, less than 400", "write bits per second"
    if rung.fps is None:
        yield rung.path, "it has no fps", "write fps = 0 for the source's frame rate"
    if rung.encoder not in (None, "H.264"):
        yield rung.at("encoder"), f"its codec is {rung.encoder}, but live renditions are H.264", "remove encoder"
    for key, value in (("colorDepth", rung.color_depth), ("chromaFormat", rung.chroma_format)):
        if value is not None:
            yield rung.at(key), f"the API has no {key}", f"remove {key}"
