"""A stream has a recordingSpec but is not recorded.

Why: the service refuses recordingSpec unless record is true, so it does not create the stream at all.

Fix: `fleetc check --fix` adds record = true if record is not set.

Example:

    [streams.main]
    recordingSpec = { profiles = [{ bitrate = 3000000 }] }

Instead:

    [streams.main]
    record = true
    recordingSpec = { profiles = [{ bitrate = 3000000 }] }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, fix_insert


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each stream with a recordingSpec, even an empty one."""
    for name, stream in sorted(fleet.streams.items()):
        if stream.recordingSpec is not None and stream.record is not True:
            path = ("streams", name)
            yield error(
                "stream-recording-spec-without-record",
                f"stream {name} has a recordingSpec but is not recorded",
                Label((*path, "recordingSpec")),
                [Label((*path, "record"), "not recorded")] if stream.record is False else (),
                "write record = true, or remove recordingSpec",
                fix=fix_insert((*path, "record"), True) if stream.record is None else None,
            )
