"""A target should get a rendition that the stream does not have.

Why: the service refuses it. Without profiles, the renditions are the default ladder; with profiles = [] there is only
the source.

Example:

    [streams.main]
    profiles = []
    multistream = { targets = [{ profile = "720p", id = "5a1b" }] }

Instead:

    [streams.main]
    profiles = []
    multistream = { targets = [{ profile = "source", id = "5a1b" }] }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import stream_rungs
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream.stream_api import SOURCE


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each target of each stream."""
    for name, stream in sorted(fleet.streams.items()):
        targets = stream.multistream.targets if stream.multistream else None
        if not targets:
            continue
        named = dict.fromkeys(rung.name or "" for rung in stream_rungs(fleet, name).value)  # a name may be there twice
        known = [*named, SOURCE]
        for index, target in enumerate(targets):
            if target.profile not in known:
                yield error(
                    "stream-target-unknown-profile",
                    f'stream {name} has no rendition "{target.profile}" to push',
                    Label(("streams", name, "multistream", "targets", index, "profile")),
                    help=fleet.suggestions.did_you_mean(target.profile, known),
                )
