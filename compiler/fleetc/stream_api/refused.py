"""What an answered stream holds that a declared one is refused for: the answer goes through the language and its rules.

In: a checked answer. Out: a note for each fault (`notes`). The service answers such a stream all the same: it looked at
less when the stream was made. Called by `observed.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from fleetc import rules
from fleetc.language.fleet import Fleet
from fleetc.language.problems import problems
from fleetc.language.stream import Stream
from fleetc.places.diagnostic import Diagnostic, Path, Severity, Span
from fleetc.stream_api import scrub
from fleetc.stream_api.resource import Seen, SeenStream
from fleetc.upstream import NEWEST_RELEASE, format_release

_NAME = "answered"
_FLEET: dict[str, Any] = {
    "spec": 1,
    "fleet": {"name": "answers", "network": "offchain", "node_release": format_release(NEWEST_RELEASE)},
    "hosts": {"elsewhere": {"address": "192.0.2.1", "public": "192.0.2.1", "runtime": "docker"}},
}
"""As much of a fleet as a stream can be declared in."""
_DECLARABLE = tuple(key for key in Stream.model_fields if key not in ("gateway", "ladder"))
_SECRET = {"env": "ANSWERED"}
_USER = re.compile(r"(?<=://)[^/?#@]*@")
_OF_SPECS = "inline-secret"
"""The rule about what must not be in a spec; an answer may contain it."""


def notes(seen: SeenStream) -> Iterator[str]:
    """A note for each part of an answer that a declaration is refused for, without values that may be secret."""
    declared = _declared(seen)
    faults, fleet = _judged(declared)
    if fleet is None:  # the other parts are judged without the faulty ones
        parts = {str(place[0]) for place, _ in faults if place}
        parts |= {"multistream"} if "profiles" in parts else set()
        _, fleet = _judged({key: value for key, value in declared.items() if key not in parts})
    all_faults = [*faults, *(_placed(rules.check(fleet)) if fleet is not None else ())]
    for place, fault in all_faults:
        at = ".".join(scrub.value(str(part)) for part in place) or "the answer"
        message = fault.message.replace(f"stream {_NAME}", "the stream")
        yield f"{at} would be refused in a spec ({fault.code}): {scrub.value(message)}"


def _judged(declared: dict[str, Any]) -> tuple[list[tuple[Path, Diagnostic]], Fleet | None]:
    raw = {**_FLEET, "streams": {_NAME: declared}}
    try:
        return [], Fleet.model_validate(raw)
    except ValidationError as found:
        return _placed(problems(found, raw, Fleet)), None


def _placed(faults: list[Diagnostic]) -> list[tuple[Path, Diagnostic]]:
    """The errors about the stream, each with its place in it."""
    placed = []
    for fault in faults:
        place = fault.primary.place
        if isinstance(place, Span) or place[:2] != ("streams", _NAME):
            continue
        if fault.severity is Severity.ERROR and fault.code != _OF_SPECS:
            placed.append((place[2:], fault))
    return placed


def _declared(seen: SeenStream) -> dict[str, Any]:
    """The answer as a declaration: without the service's own fields, with references for secrets."""
    known = _described(seen)
    declared = {key: known[key] for key in _DECLARABLE if key in known}
    if "pull" in declared:
        declared["pull"]["source"] = _USER.sub("", declared["pull"]["source"], count=1)
        if "headers" in declared["pull"]:
            declared["pull"]["headers"] = dict.fromkeys(declared["pull"]["headers"], _SECRET)
    for target in declared.get("multistream", {}).get("targets", ()):
        target.pop("spec", None)
    return declared


def _described(value: Any) -> Any:
    """A part of an answer without nulls and without what the API does not describe."""
    if isinstance(value, Seen):
        known = ((key, getattr(value, key)) for key in type(value).model_fields if key in value.model_fields_set)
        return {key: _described(item) for key, item in known if item is not None}
    return [_described(item) for item in value] if isinstance(value, list) else value
