"""The input and the result of comparing a declared and an observed stream.

In: nothing; made by `drift.py` and `steps.py`. Out: `Report` and its parts, which `report.py` prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleetc.places.diagnostic import Path
from fleetc.stream_api.normal import NormalTarget

IN_SYNC, DRIFT, UNKNOWN = "in_sync", "drift", "unknown"
PATCH, LATER, REPLACE, MANUAL = "patch", "patch_when_inactive", "replace", "manual"


class _Nothing:
    """A value that one side lacks."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


class Drift(NamedTuple):
    """One difference: a place of the resource, both values or `NOTHING`, and what fixes it.

    `action` is patch, patch_when_inactive, replace or manual. In the path, a profile has its name, and a target its
    profile and id. `secret`: the observed value must not be shown.
    """

    path: Path
    declared: Any
    observed: Any
    action: str
    secret: bool = False


class Binding(NamedTuple):
    """The id that the service gave to a target that was sent by spec, told by its profile and its reference.

    An empty id: the target was sent, but its id, if any, is unknown.
    """

    profile: str
    kind: str
    reference: str
    id: str


class ApiRequest(NamedTuple):
    """One request. `when` is now or inactive: the service refuses some changes of an active stream."""

    method: str
    path: str
    body: dict[str, Any]
    when: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """How a stream stands: the kind of the result, what differs, and the requests in their order.

    `kind` is in_sync, drift, missing, not_a_stream, invalid_response, unreachable or unknown (it may exist under an
    id that is not known). `bindings` are the given ones and the certain ones.
    """

    stream: str
    kind: str
    drifts: tuple[Drift, ...] = ()
    steps: tuple[ApiRequest, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    bindings: tuple[Binding, ...] = ()


class Pending(NamedTuple):
    """A declared target that was never sent: its row in the request."""

    row: Mapping[str, Any]
    place: int


class Wanted(NamedTuple):
    """The declared targets: with an id, still to be sent, and with an id that you must supply.

    `rivals` are the observed candidates for the doubtful ones; they stay until you decide.
    """

    known: tuple[NormalTarget, ...]
    pending: tuple[Pending, ...]
    doubtful: tuple[Pending, ...]
    rivals: tuple[NormalTarget, ...]
    bindings: tuple[Binding, ...]
