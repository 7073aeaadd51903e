"""The location of a pulled stream has a coordinate of exactly 0.

Why: the service treats a coordinate of 0 as missing and ignores the location, so it may pull the stream from far away.

Example:

    [streams.main.pull]
    source = "https://studio.example.net/live/index.m3u8"
    location = { lat = 51.48, lon = 0 }

Instead:

    [streams.main.pull]
    source = "https://studio.example.net/live/index.m3u8"
    location = { lat = 51.48, lon = 0.01 }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the location of each pulled stream."""
    for name, stream in sorted(fleet.streams.items()):
        location = stream.pull.location if stream.pull else None
        if location is None:
            continue
        for key, degrees in (("lat", location.lat), ("lon", location.lon)):
            if degrees == 0:
                yield warning(
                    "pull-location-ignored",
                    f"stream {name}: the service ignores a location whose {key} is exactly 0",
                    Label(("streams", name, "pull", "location", key)),
                    help=f"write a place nearby: {key} = 0.01",
                )
