"""Lowers streams: the request that creates each of them, and what a webhook answers about it to its gateway.

In: a fleet. Out: `StreamBlueprint`s, sorted by name, and where their API is. The request comes from
`analysis/requests.py`, and rules measure its size.
"""

from __future__ import annotations

from fleetc.analysis.requests import create_request
from fleetc.blueprint.blueprint import BlueprintFile, StreamApiBlueprint, StreamBlueprint
from fleetc.language.fleet import Fleet
from fleetc.language.renditions import entries, rung_places, stream_rungs
from fleetc.language.stream import Stream
from fleetc.places.origin import derived, given

REQUEST = "create.json"
ANSWER = "auth-webhook.json"


def lower_streams(fleet: Fleet) -> tuple[StreamBlueprint, ...]:
    """Every stream of the fleet."""
    return tuple(_stream(fleet, name, stream) for name, stream in sorted(fleet.streams.items()))


def lower_stream_api(fleet: Fleet) -> StreamApiBlueprint | None:
    """Where the streams are; None if the spec does not set it."""
    api = fleet.stream_api
    if api is None:
        return None
    return StreamApiBlueprint(api.base_url, api.token.kind, api.token.name)


def _stream(fleet: Fleet, name: str, stream: Stream) -> StreamBlueprint:
    path = ("streams", name)
    request = create_request(fleet, name)
    return StreamBlueprint(
        name=name,
        gateway=stream.gateway or "",
        request=BlueprintFile(REQUEST, request.content, given(*path), request.places),
        answer=_answer(fleet, name, stream),
        secrets=tuple(request.secrets),
        suspended=stream.suspended is True,
    )


def _answer(fleet: Fleet, name: str, stream: Stream) -> BlueprintFile | None:
    """What a webhook answers when the stream starts at its gateway: an id of letters and digits, and its renditions."""
    if stream.gateway is None:
        return None
    chosen = stream_rungs(fleet, name)
    table = ("streams", name)
    content = {"manifestID": manifest_id(name), "profiles": entries(chosen.value)}
    places = {
        ("manifestID",): derived("the name of its table, in letters and digits", table),
        ("profiles",): chosen.origin,
        **rung_places(chosen.value, ("profiles",)),
    }
    return BlueprintFile(ANSWER, content, derived("its gateway and its renditions", (*table, "gateway")), places)


def manifest_id(name: str) -> str:
    """The name of a stream in letters and digits only, as nodes require: no two names give the same."""
    return name.replace("-", "X")  # names have no capitals
