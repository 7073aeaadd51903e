"""Two renditions of a list have the same name, or one has the reserved name "source".

Why: names become paths of the stream, and select what targets push. The service refuses a list with a repeated name, or
with the name "source", which means the unchanged stream.

Example:

    [ladders.live]
    profiles = [
      { name = "low", width = 640, height = 360, bitrate = 800000, fps = 30 },
      { name = "low", width = 1280, height = 720, bitrate = 3000000, fps = 30 },
    ]

Instead:

    [ladders.live]
    profiles = [
      { name = "360p", width = 640, height = 360, bitrate = 800000, fps = 30 },
      { name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30 },
    ]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import Rung, recordings, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream.stream_api import SOURCE


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the names in each list, including those of recordings."""
    for rungs in (*(found.rungs for found in rendition_lists(fleet)), *recordings(fleet)):
        seen: dict[str, Rung] = {}
        for rung in rungs:
            if rung.name is None:
                continue
            before = seen.setdefault(rung.name, rung)
            if rung.name == SOURCE:
                yield error(
                    "rendition-named-twice",
                    'a rendition cannot be named "source", which means the stream itself',
                    Label(rung.at("name")),
                    help='choose another name, such as "720p"',
                )
            elif before is not rung:
                yield error(
                    "rendition-named-twice",
                    f'two renditions are named "{rung.name}"',
                    Label(rung.at("name"), "here again"),
                    [Label(before.at("name"), "first here")],
                    "give each its own name: names become paths of the stream",
                )
