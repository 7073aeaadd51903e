"""A stream has an empty name.

Why: the service accepts it, but you cannot tell the stream from others in lists.

Example:

    [streams.main]
    name = ""

Instead:

    [streams.main]
    name = "main stage"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the name of each stream."""
    for name, stream in sorted(fleet.streams.items()):
        if stream.name == "":
            yield warning(
                "stream-name-empty",
                f"stream {name} has an empty name",
                Label(("streams", name, "name")),
                help=f'write name = "{name}", or remove it, which means the same',
            )
