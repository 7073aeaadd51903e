"""Two renditions of a list have one name, or one is named like the stream itself.

Why: names become paths of the stream and tell targets what to push. The service refuses a list in which one comes
twice, or in which one is "source", the word for the stream as it comes.

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
    """Look at the names in each list, and at those that recordings have."""
    for rungs in (*(found.rungs for found in rendition_lists(fleet)), *recordings(fleet)):
        seen: dict[str, Rung] = {}
        for rung in rungs:
            if rung.name is None:
                continue
            before = seen.setdefault(rung.name, rung)
            if rung.name == SOURCE:
                yield error(
                    "rendition-named-twice",
                    'no rendition may be named "source", which is the stream itself',
                    Label(rung.at("name")),
                    help='write another name, such as "720p"',
                )
            elif before is not rung:
                yield error(
                    "rendition-named-twice",
                    f'two renditions are named "{rung.name}"',
                    Label(rung.at("name"), "here again"),
                    [Label(before.at("name"), "first here")],
                    "give each a name of its own: names become paths of the stream",
                )
