"""Plans of declared streams, and a stand-in for the service that holds them.

In: a declared stream as plain values. Out: its `StreamBlueprint` (`planned`), the report about an answer (`judged`),
and `StandIn`: the part of the service that these tests need, with the habits that make the order of requests matter. It
is no proof of what the real service does.
"""

from __future__ import annotations

import json
from copy import deepcopy
from decimal import Decimal
from typing import Any

import tomli_w

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.emit.artifacts import json_document
from fleetc.language.spec import read_fleet
from fleetc.language.stream import PLACEHOLDER
from fleetc.lower.streams import lower_streams
from fleetc.stream_api.data import ApiRequest, Binding, Report
from fleetc.stream_api.drift import compare
from fleetc.stream_api.learning import learn
from fleetc.stream_api.normal import target_rows
from fleetc.stream_api.observed import parse_json, read
from fleetc.toml.document import Source, read_document
from fleetc.upstream.stream_api import DEFAULT_PROFILES, SERVER_OWNED
from tests.rules.support import offchain

Json = dict[str, Any]
SECRETS = {("env", "TARGET_URL"): "rtmp://a.example/live/key", ("env", "OTHER_URL"): "srt://b.example:9000"}


def planned(stream: Json, more: Json | None = None) -> StreamBlueprint:
    """The plan of a declared stream named main; `more` are further tables, such as ladders."""
    text = offchain() + tomli_w.dumps({"streams": {"main": stream}, **(more or {})})
    document, found = read_document([Source("fleet.toml", text)])
    assert document is not None, found
    fleet, found = read_fleet(document)
    assert fleet is not None, found
    (plan,) = lower_streams(fleet)
    return plan


def judged(stream: Json, observed: Json, bindings: tuple[Binding, ...] | None = None) -> Report:
    """The report about a declared stream and the JSON of an answer."""
    return compare(planned(stream), read(as_text(observed)), bindings)


def as_text(value: Any) -> str:
    """A value as the service sends it: numbers of JavaScript, so that 1.50 comes back as 1.5."""
    return json.dumps(value, default=lambda number: float(number) if isinstance(number, Decimal) else None)


class RefusedError(Exception):
    """The stand-in answers with a status of 400 or above."""


class StandIn:
    """One stream of the service: it stores what it is sent, checks it, and answers it with fields of its own."""

    def __init__(self) -> None:
        self.stored: Json = {}
        self.made = 0
        self.streams = 0
        self.targets_made: list[str] = []

    def create(self, body: Json) -> Json:
        """POST /stream."""
        body = self._resolved(body)
        if "suspended" in body or set(body) & set(SERVER_OWNED):
            raise RefusedError("422 additional property")
        self.streams += 1
        self.stored = {"id": f"stream-{self.streams}", "isActive": False, "suspended": False, "record": False}
        self.stored["profiles"] = [
            {"profile": "H264ConstrainedHigh", **row} for row in body.pop("profiles", DEFAULT_PROFILES)
        ]
        self._take(body)
        return self.get()

    def get(self) -> Json:
        """GET /stream/{id}: what is stored, and more."""
        secret = {"streamKey": "abcd-efgh"} if "pull" not in self.stored else {}
        more = {"createdAt": 1, "lastSeen": 0, "renditions": {}, "issues": None, "isHealthy": None, "region": "eu"}
        return json.loads(as_text({**self.stored, **more, **secret}))  # type: ignore[no-any-return]

    def patch(self, body: Json) -> None:
        """PATCH /stream/{id}."""
        body = self._resolved(body)
        if set(body) & {"pull", *SERVER_OWNED} or None in body.values():
            raise RefusedError("422 not for a patch")
        if self.stored["isActive"] and {"profiles", "record"} & set(body):
            raise RefusedError("400 the stream is active")
        self._take(body)

    def send(self, step: ApiRequest) -> None:
        """One step of a report."""
        own = f"/stream/{self.stored['id']}"
        if step.method == "POST":
            assert step.path == "/stream"
            self.create(step.body)
        else:
            assert step.path in (own, "/stream/{id}")
            self.patch(step.body)

    def _take(self, body: Json) -> None:
        # Targets are checked against the profiles stored before, never against those of the same body.
        rows = body.pop("multistream", {}).get("targets") if "multistream" in body else None
        if rows is not None:
            self.stored["multistream"] = {"targets": [self._target(row) for row in rows]}
        if "recordingSpec" in body and not (body.get("record") or self.stored["record"]):
            raise RefusedError("400 recordingSpec needs record")
        names = [row["name"] for row in body.get("profiles", ())]
        if len(set(names)) < len(names) or "source" in names:
            raise RefusedError("400 profile names")
        if names or "profiles" in body:
            gone = {row["profile"] for row in self._rows()} - {"source", *names}
            if gone:
                raise RefusedError("400 a target would lose its profile")
        if body.get("playbackPolicy", 0) is None:
            del body["playbackPolicy"]  # accepted and ignored
        self.stored |= body

    def _rows(self) -> list[Json]:
        rows: list[Json] = self.stored.get("multistream", {}).get("targets", [])
        return rows

    def _target(self, row: Json) -> Json:
        names = {"source", *(profile["name"] for profile in self.stored["profiles"])}
        if row["profile"] not in names:
            raise RefusedError(f"400 no profile {row['profile']}")
        if ("id" in row) == ("spec" in row):
            raise RefusedError("400 id or spec")
        row = dict(row)
        if "spec" in row:
            self.made += 1
            self.targets_made.append(row.pop("spec")["url"])
            row["id"] = f"target-{self.made}"
        return row

    def _resolved(self, body: Any) -> Any:
        """The body as what sends it makes it: JSON, with the values of secrets in the places of references."""
        return _resolve(parse_json(json_document(deepcopy(body))))


def _resolve(value: Any) -> Any:
    if isinstance(value, dict):
        if PLACEHOLDER in value:
            ((kind, name),) = value[PLACEHOLDER].items()
            return SECRETS.get((kind, name), f"value of {name}")
        return {key: _resolve(item) for key, item in value.items()}
    return [_resolve(item) for item in value] if isinstance(value, list) else value


def learnt(request: Json, created: Json) -> tuple[Binding, ...]:
    """What somebody who keeps bindings notes after a request."""
    return learn(target_rows(request), target_rows(created))
