"""Streams as rows of `FLEET.md`.

In: a stream of the blueprint, and where the API is. Out: rows for the template.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import StreamApiBlueprint, StreamBlueprint
from fleetc.emit.pages.cells import cell, word
from fleetc.emit.traced import Mark
from fleetc.places.origin import given


def api_rows(api: StreamApiBlueprint | None, mark: Mark) -> list[object]:
    """Where the API is and which token it takes: one row, or none."""
    if api is None:
        return []
    cells = (cell(api.base_url), word(api.kind), cell(api.reference))
    return [mark(cells, given("stream_api", "base_url"), given("stream_api", "token"))]


def stream_row(stream: StreamBlueprint, mark: Mark) -> object:
    """One stream; an empty gateway means none. The ladder is default, none or named; the targets are a number."""
    request = stream.request.content
    profiles = request.get("profiles")
    cells = (
        cell(stream.name),
        cell(request["name"]),
        word("pulled" if "pull" in request else "pushed"),
        cell(stream.gateway) if stream.gateway else "",
        "default" if profiles is None else "named" if profiles else "none",
        cell(", ".join(profile["name"] for profile in profiles or ())),
        word("yes" if request.get("record") else "no"),
        word(request.get("playbackPolicy", {}).get("type", "public")),
        len(request.get("multistream", {}).get("targets", ())),
    )
    return mark(cells, given("streams", stream.name), stream.request.origin)


def secret_rows(stream: StreamBlueprint, mark: Mark) -> Iterator[object]:
    """Each secret that the request of a stream needs, and its place there."""
    for secret in stream.secrets:
        values = (word(secret.kind), cell(secret.reference), cell(".".join(map(str, secret.place))))
        yield mark((cell(stream.name), *values), given("streams", stream.name), secret.origin)
