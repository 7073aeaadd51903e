"""The request that creates a stream: lowering emits it, and rules measure it.

In: a sound `Fleet` and the name of a stream. Out: `Request` (`create_request`), and its length in bytes (`size`). A
request contains only what the spec declares: no default is written out and nothing is ever null. A secret is replaced
by a table with the one key of `PLACEHOLDER`, which cannot be confused with any text of the API.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fleetc.blueprint.blueprint import RequestSecret
from fleetc.language.fields import Base
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Url
from fleetc.language.renditions import Rung, api_entry, recording_entry, rung_places, rungs_of, stream_rungs
from fleetc.language.secret_fields import SecretRef
from fleetc.language.stream import PLACEHOLDER, RecordingSpec, Stream
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, default, given
from fleetc.upstream.stream_api import TARGET_URL

_BEFORE = ("creatorId", "userTags", "pull", "playbackPolicy")


def create_request(fleet: Fleet, name: str) -> Request:
    """The request that creates a stream of the fleet."""
    stream, path = fleet.streams[name], ("streams", name)
    request = Request()
    request.put("name", *_title(name, stream))
    for key in _BEFORE:
        request.add(key, getattr(stream, key), (*path, key))
    chosen = stream_rungs(fleet, name)
    if chosen.origin.kind != "default":
        request.put_rungs(("profiles",), chosen.value, api_entry, chosen.origin)
    request.add("record", stream.record, (*path, "record"))
    if stream.recordingSpec is not None:
        request.recording(stream.recordingSpec, (*path, "recordingSpec"))
    request.add("multistream", stream.multistream, (*path, "multistream"))
    return request


def size(content: Any) -> int:
    """Bytes of a value as the shortest possible JSON in UTF-8; placeholders count as written."""
    return len(compact(content).encode())


def compact(content: Any) -> str:
    """A value as the shortest possible JSON."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=float)


def _title(name: str, stream: Stream) -> tuple[str, Origin]:
    if stream.name is not None:
        return stream.name, given("streams", name, "name")
    return name, default("the name of its table", ("streams", name))


class Request:
    """The payload of a request under construction, with the origin of each value and the secrets that it lacks."""

    def __init__(self) -> None:
        self.content: dict[str, Any] = {}
        self.places: dict[Path, Origin] = {}
        self.secrets: list[RequestSecret] = []

    def put(self, key: str, value: Any, origin: Origin) -> None:
        """Put one plain value."""
        self.content[key] = value
        self.places[(key,)] = origin

    def add(self, key: str, value: Any, path: Path) -> None:
        """Add what the spec declares at a path; nothing if it declares nothing."""
        if value is not None:
            self.content[key] = self._plain(value, path, (key,))

    def put_rungs(
        self, place: Path, rungs: tuple[Rung, ...], entry: Callable[[Rung], dict[str, Any]], origin: Origin
    ) -> None:
        """Append a list of renditions at a place, with the origin of each of their values."""
        table = self.content
        for part in place[:-1]:
            table = table[str(part)]
        table[str(place[-1])] = [entry(rung) for rung in rungs]
        self.places[place] = origin
        self.places |= rung_places(rungs, place, entry)

    def recording(self, spec: RecordingSpec, path: Path) -> None:
        """Add the formats of recordings: a table that may be empty, with a list that may be empty."""
        self.put("recordingSpec", {}, given(*path))
        if spec.profiles is not None:
            rungs = rungs_of((*path, "profiles"), spec.profiles)
            self.put_rungs(("recordingSpec", "profiles"), rungs, recording_entry, given(*path, "profiles"))

    def _plain(self, value: Any, path: Path, place: Path) -> Any:
        self.places[place] = given(*path)
        if isinstance(value, SecretRef):
            form = TARGET_URL if place[-2:] == ("spec", "url") else ""
            self.secrets.append(RequestSecret(place, value.kind, value.name, form, given(*path)))
            return {PLACEHOLDER: {value.kind: value.name}}
        if isinstance(value, Url):
            return value.text
        if isinstance(value, Base):
            members = [(name, item) for name, item in value if item is not None]
            return {name: self._plain(item, (*path, name), (*place, name)) for name, item in members}
        if isinstance(value, dict):
            return {name: self._plain(item, (*path, name), (*place, name)) for name, item in value.items()}
        if isinstance(value, tuple):
            return [self._plain(item, (*path, i), (*place, i)) for i, item in enumerate(value)]
        return value
