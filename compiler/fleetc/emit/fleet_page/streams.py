"""Streams as rows of `FLEET.md`.

In: a stream of the blueprint. Out: a row for the template.
"""

from __future__ import annotations

from typing import NamedTuple

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.templates import Encoded, Word


class StreamRow(NamedTuple):
    """One stream; an empty gateway is none. `ladder` is default, none or named; `targets` counts them."""

    name: Encoded
    title: Encoded
    comes: Word
    gateway: str
    ladder: str
    renditions: Encoded
    recorded: Word
    policy: Word
    targets: int


def stream_row(stream: StreamBlueprint) -> StreamRow:
    request = stream.request.content
    profiles = request.get("profiles")
    return StreamRow(
        name=cell(stream.name),
        title=cell(request["name"]),
        comes=word("pulled" if "pull" in request else "pushed"),
        gateway=cell(stream.gateway) if stream.gateway else "",
        ladder="default" if profiles is None else "named" if profiles else "none",
        renditions=cell(", ".join(profile["name"] for profile in profiles or ())),
        recorded=word("yes" if request.get("record") else "no"),
        policy=word(request.get("playbackPolicy", {}).get("type", "public")),
        targets=len(request.get("multistream", {}).get("targets", ())),
    )
