"""What a comparison of a declared and an observed stream is made of, and what comes of it.

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
    """Stands for a value that one side does not have."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


class Drift(NamedTuple):
    """One difference: a place of the resource, both values or `NOTHING`, and what fixes it.

    `action` is patch, patch_when_inactive, replace or manual. A profile stands in the path by its name, and a target by
    its profile and id. `secret` says that the observed value must not be shown.
    """

    path: Path
    declared: Any
    observed: Any
    action: str
    secret: bool = False


class Binding(NamedTuple):
    """The id that the service gave to a target that was sent by spec, told by its profile and its reference.

    An empty id says that the target was sent, and that nobody knows which id it got, or whether it got one.
    """

    profile: str
    kind: str
    reference: str
    id: str


class ApiRequest(NamedTuple):
    """One request. `when` is now or inactive: the service refuses some changes while somebody sends the stream."""

    method: str
    path: str
    body: dict[str, Any] | None
    when: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """How a stream stands: the kind of the result, what differs, and the requests in their order.

    `kind` is in_sync, drift, missing, not_a_stream, invalid_response, unreachable or unknown (a request was sent that
    creates it, and the answer was lost). `bindings` are those in force: the
    ones given, and the ones that could be told without doubt.
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
    """The declared targets: those with an id, those still to be sent, and those whose id a person has to tell.

    `rivals` are the observed targets that the doubtful ones may be; they stay until that is told.
    """

    known: tuple[NormalTarget, ...]
    pending: tuple[Pending, ...]
    doubtful: tuple[Pending, ...]
    rivals: tuple[NormalTarget, ...]
    bindings: tuple[Binding, ...]
