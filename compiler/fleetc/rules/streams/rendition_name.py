"""Two renditions of a list have the same name, or one has a name that is reserved or does not work in paths.

Why: names become paths of the stream, and select what targets push. The service refuses a list with a repeated name, or
with the name "source", which means the unchanged stream. A slash or a space breaks some players, and two names that
differ only in case are the same file on some storage.

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
from fleetc.language.renditions import PLAIN_NAME, Renditions, Rung, recordings, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.upstream.stream_api import SOURCE

_CODE = "rendition-name"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the names in each list; for a node of this fleet, a name that is not plain is an error elsewhere."""
    for found in rendition_lists(fleet):
        yield from _in_paths(found)
    for rungs in (*(found.rungs for found in rendition_lists(fleet)), *recordings(fleet)):
        seen: dict[str, Rung] = {}
        for rung in rungs:
            if rung.name is None:
                continue
            before = seen.setdefault(rung.name, rung)
            if rung.name == SOURCE:
                yield error(
                    _CODE,
                    'a rendition cannot be named "source", which means the stream itself',
                    Label(rung.at("name")),
                    help='choose another name, such as "720p"',
                )
            elif before is not rung:
                yield error(
                    _CODE,
                    f'two renditions are named "{rung.name}"',
                    Label(rung.at("name"), "here again"),
                    [Label(before.at("name"), "first here")],
                    "give each its own name: names become paths of the stream",
                )


def _in_paths(found: Renditions) -> Iterator[Diagnostic]:
    seen: dict[str, str] = {}
    for rung in found.rungs:
        name = rung.name or ""
        twin = seen.setdefault(name.casefold(), name)
        if twin != name:
            message = f'"{twin}" and "{name}" differ only in case, and both become part of paths'
        elif not found.to_node and not PLAIN_NAME.fullmatch(name):
            message = f'the name "{name}" becomes part of paths'
        else:
            continue
        advice = 'use only letters, digits and . _ -, such as "720p", and each name once'
        yield warning(_CODE, message, Label(rung.at("name")), help=advice)
