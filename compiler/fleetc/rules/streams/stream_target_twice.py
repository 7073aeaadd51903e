"""A stream pushes the same rendition to the same target twice.

Why: the service refuses the list, and a platform that gets a stream twice with one key drops one of them.

Example:

    [streams.main]
    multistream = { targets = [{ profile = "source", id = "5a1b" }, { profile = "source", id = "5a1b" }] }

Instead:

    [streams.main]
    multistream = { targets = [{ profile = "source", id = "5a1b" }] }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the targets of each stream, existing ones by id and new ones by the reference in their address."""
    for name, stream in sorted(fleet.streams.items()):
        seen: dict[tuple[str, str, str], int] = {}
        path = ("streams", name, "multistream", "targets")
        for index, target in enumerate((stream.multistream.targets if stream.multistream else None) or ()):
            if target.id is not None:
                key = (target.profile, "id", target.id)
            elif target.spec is not None:
                key = (target.profile, target.spec.url.kind, target.spec.url.name)
            else:
                continue  # another rule reports that it leads nowhere
            before = seen.setdefault(key, index)
            if before != index:
                yield error(
                    "stream-target-twice",
                    f'stream {name} pushes "{target.profile}" to the same target twice',
                    Label((*path, index), "here again"),
                    [Label((*path, before), "first here")],
                    "keep one of them",
                )
