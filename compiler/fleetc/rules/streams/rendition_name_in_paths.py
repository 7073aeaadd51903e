"""The name of a rendition does not work well in paths.

Why: nodes put the name into the paths of playlists and segments. A slash or a space breaks some players, and two names
that differ only in case are the same file on some storage.

Example:

    [streams.main]
    profiles = [{ name = "720p / sport", width = 1280, height = 720, bitrate = 3000000, fps = 30 }]

Instead:

    [streams.main]
    profiles = [{ name = "720p-sport", width = 1280, height = 720, bitrate = 3000000, fps = 30 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import PLAIN_NAME, rendition_lists
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the names in each list; for a node of this fleet, a name that is not plain is an error."""
    for found in rendition_lists(fleet):
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
            yield warning("rendition-name-in-paths", message, Label(rung.at("name")), help=advice)
