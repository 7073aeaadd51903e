"""A stream is sent to a gateway that would give it different renditions than it declares.

Why: a gateway has one list of renditions for all streams, in the file that it reads at startup, and that list is never
empty. Streams with different ladders, or with only the source, need a webhook that answers with the renditions of each
stream; `streams/<name>.auth-webhook.json` is that answer.

Example:

    [streams.main]
    gateway = "gate"
    ladder = "large"

    [streams.phone]
    gateway = "gate"
    ladder = "small"

Instead:

    [gateways.gate]
    auth_webhook = "https://hooks.example.net/streams"

    [streams.main]
    gateway = "gate"
    ladder = "large"

    [streams.phone]
    gateway = "gate"
    ladder = "small"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import entries, gateway_rungs, stream_rungs
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each gateway that gets streams and asks no webhook about them."""
    for gateway, streams in sorted(fleet.streams_by_gateway.items()):
        settings = fleet.gateways[gateway]
        if settings.auth_webhook is not None:
            continue
        chosen = gateway_rungs(fleet, gateway)
        if chosen is None and not settings.renditions:
            yield from _different(fleet, gateway, streams)
            continue
        given = entries(chosen.value) if chosen else None
        key = "ladder" if settings.ladder else "renditions"
        for stream in streams:
            if entries(stream_rungs(fleet, stream).value) != given:
                yield error(
                    "stream-ladder-needs-webhook",
                    f"gateway {gateway} has one list of renditions for all streams, but {stream} declares another",
                    Label(_place(fleet, stream)),
                    [Label(("gateways", gateway, key), "those of the gateway")],
                    f"give both the same ladder, or write auth_webhook = ... for {gateway} that answers with "
                    f"streams/{stream}.auth-webhook.json",
                )


def _different(fleet: Fleet, gateway: str, streams: tuple[str, ...]) -> Iterator[Diagnostic]:
    """The streams of a gateway without its own renditions, which could use theirs."""
    first = entries(stream_rungs(fleet, streams[0]).value)
    if not first:
        yield error(
            "stream-ladder-needs-webhook",
            f"stream {streams[0]} declares no renditions, but no file can tell gateway {gateway} that",
            Label(_place(fleet, streams[0])),
            help=f"write auth_webhook = ... for {gateway} that answers with streams/{streams[0]}.auth-webhook.json",
        )
    for stream in streams[1:]:
        if entries(stream_rungs(fleet, stream).value) != first:
            yield error(
                "stream-ladder-needs-webhook",
                f"streams {streams[0]} and {stream} have different renditions, but gateway {gateway} has only one list",
                Label(_place(fleet, stream)),
                [Label(_place(fleet, streams[0]), "the other one")],
                f"write auth_webhook = ... for {gateway} that answers with the file in streams/ for each of them",
            )


def _place(fleet: Fleet, stream: str) -> tuple[str | int, ...]:
    """The place of a stream's renditions, or its gateway when they are the default."""
    settings = fleet.streams[stream]
    key = "ladder" if settings.ladder else "profiles" if settings.profiles is not None else "gateway"
    return ("streams", stream, key)
