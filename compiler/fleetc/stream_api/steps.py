"""Puts the requests that fix a stream into the order in which the service accepts them.

In: the blueprint of a stream, what was observed, what differs, and which targets are known. Out: `ApiRequest`s. The
service checks targets against stored profiles, refuses some fields of an active stream, ignores null, and makes a new
target of every spec. Order and bodies avoid all four.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.stream_api import normal
from fleetc.stream_api.data import MANUAL, REPLACE, ApiRequest, Drift, Wanted
from fleetc.upstream.stream_api import DEFAULT_PROFILES

NOW, INACTIVE = "now", "inactive"
NEW_STREAM = "/stream/{id}"
"""The path of a stream with an unknown id."""
_RESERVED = re.compile(r"[^A-Za-z0-9._~-]")
_SIMPLE = {"name": "", "creatorId": {}, "userTags": {}, "playbackPolicy": {"type": "public"}}
"""What can be changed at any time, with the service's default; name and creatorId are sent only if declared."""


def steps(
    blueprint: StreamBlueprint, observed: Mapping[str, Any], drifts: Sequence[Drift], wanted: Wanted
) -> tuple[ApiRequest, ...]:
    """The requests that fix all differences, except those that need a person: a new stream is one."""
    if any(drift.action == REPLACE for drift in drifts):
        return ()
    return tuple(_patches(blueprint, observed, [drift for drift in drifts if drift.action != MANUAL], wanted))


def creation(blueprint: StreamBlueprint) -> tuple[ApiRequest, ...]:
    """The requests that make a stream that does not exist yet."""
    first = ApiRequest("POST", "/stream", dict(blueprint.request.content), NOW, "it does not exist yet")
    if not blueprint.suspended:
        return (first,)
    reason = "a stream is suspended once it exists; {id} is that of the new one"
    return first, ApiRequest("PATCH", NEW_STREAM, {"suspended": True}, NOW, reason)


def stream_path(observed: Mapping[str, Any]) -> str:
    """The path of a stream below the address of the API, its id made safe."""
    return path_of_id(observed["id"]) if "id" in observed else NEW_STREAM


def path_of_id(text: str) -> str:
    """The path of the stream with an id, encoded as one part of a path."""
    return "/stream/" + _RESERVED.sub(lambda c: "".join(f"%{byte:02X}" for byte in c[0].encode()), text)


def _patches(
    blueprint: StreamBlueprint, observed: Mapping[str, Any], drifts: Sequence[Drift], wanted: Wanted
) -> Iterator[ApiRequest]:
    path = stream_path(observed)
    changed = {str(drift.path[0]) for drift in drifts}
    body = {"suspended": blueprint.suspended}
    if "suspended" in changed and blueprint.suspended:
        yield ApiRequest("PATCH", path, body, NOW, "first, so that no half-changed stream is active")
    rest = list(_rest(blueprint.request.content, observed, path, changed, wanted))
    yield from rest
    if "suspended" in changed and not blueprint.suspended:
        when = INACTIVE if any(step.when == INACTIVE for step in rest) else NOW
        yield ApiRequest("PATCH", path, body, when, "last, so that no half-changed stream is active")


def _rest(
    request: Mapping[str, Any], observed: Mapping[str, Any], path: str, changed: set[str], wanted: Wanted
) -> Iterator[ApiRequest]:
    """All patches but that of suspended."""
    waiting = INACTIVE if observed.get("isActive") is True else NOW
    simple = {key: request.get(key, default) for key, default in _SIMPLE.items() if key in changed}
    if simple:
        yield ApiRequest("PATCH", path, simple, NOW, f"{', '.join(simple)} can be changed at any time")
    yield from _recording(request, path, changed, waiting)
    yield from _ladder(request, observed, path, changed, waiting, wanted)


def _recording(request: Mapping[str, Any], path: str, changed: set[str], waiting: str) -> Iterator[ApiRequest]:
    """What is recorded. A spec cannot be removed: an empty one leaves recordings to the service again."""
    spec = request.get("recordingSpec", {})
    if "record" in changed:
        body = {"record": request.get("record", False)}
        if "recordingSpec" in changed:
            body["recordingSpec"] = spec
        yield ApiRequest("PATCH", path, body, waiting, "the service refuses a change of record of an active stream")
    elif "recordingSpec" in changed:
        yield ApiRequest(
            "PATCH", path, {"recordingSpec": spec}, NOW, "recordings can be changed while the stream is recorded"
        )


def _ladder(
    request: Mapping[str, Any],
    observed: Mapping[str, Any],
    path: str,
    changed: set[str],
    waiting: str,
    wanted: Wanted,
) -> Iterator[ApiRequest]:
    """Profiles and targets: no target may name a profile that is not stored when it is sent or when it goes."""
    stored, new = set(normal.profiles(observed)), set(normal.profiles(request))
    rows = normal.target_rows(observed)
    if "profiles" not in changed:
        if "multistream" in changed:
            yield ApiRequest("PATCH", path, _multistream(_final(wanted)), NOW, "targets can be changed at any time")
        return
    staying = [row for row in rows if "id" in row and row["profile"] not in stored - new]
    final = _final(wanted)
    apart = len(staying) == len(rows) and not any(row["profile"] in new - stored for row in final)
    if "multistream" in changed and apart:
        yield ApiRequest("PATCH", path, _multistream(final), NOW, "targets can be changed at any time")
    if len(staying) < len(rows):
        reason = "targets let go of the profiles that are about to go"
        yield ApiRequest("PATCH", path, _multistream([_row(row) for row in staying]), waiting, reason)
    profiles = request.get("profiles", [dict(row) for row in DEFAULT_PROFILES])
    reason = "the service refuses profiles of an active stream"
    yield ApiRequest("PATCH", path, {"profiles": profiles}, waiting, reason)
    if "multistream" in changed and not apart:
        reason = "targets are checked against the profiles that are stored"
        yield ApiRequest("PATCH", path, _multistream(final), waiting, reason)


def _multistream(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"multistream": {"targets": rows}}


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A target that exists, as a request names it."""
    return {key: row[key] for key in ("profile", "videoOnly", "id") if key in row}


def _final(wanted: Wanted) -> list[dict[str, Any]]:
    """The targets that should be: by id where they have one, and by spec where they are sent for the first time."""
    known = [target.row for target in (*wanted.known, *wanted.rivals)]
    return [*known, *(dict(pending.row) for pending in wanted.pending)]
