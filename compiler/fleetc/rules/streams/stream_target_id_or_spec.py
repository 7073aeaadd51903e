"""A target has both an id and a spec, or neither.

Why: a target is an existing one, by id, or a new one, by spec. The service refuses anything else.

Example:

    [streams.main]
    multistream = { targets = [{ profile = "source" }] }

Instead:

    [streams.main]
    multistream = { targets = [{ profile = "source", spec = { url = { env = "TARGET_URL" } } }] }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each target of each stream."""
    for name, stream in sorted(fleet.streams.items()):
        for index, target in enumerate((stream.multistream.targets if stream.multistream else None) or ()):
            path = ("streams", name, "multistream", "targets", index)
            if target.id is None and target.spec is None:
                yield error(
                    "stream-target-id-or-spec",
                    f"target {index + 1} of stream {name} has neither an id nor a spec",
                    Label(path),
                    help='write id = "..." of an existing target, or spec = { url = { env = "NAME" } } for a new one',
                )
            elif target.id is not None and target.spec is not None:
                yield error(
                    "stream-target-id-or-spec",
                    f"target {index + 1} of stream {name} has both an id and a spec",
                    Label((*path, "spec"), "the new one"),
                    [Label((*path, "id"), "the existing one")],
                    "keep id for an existing target, or spec for a new one",
                )
