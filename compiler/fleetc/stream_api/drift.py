"""Compares a stream with what the API answered about it, field by field.

In: the blueprint of a stream, a checked answer, and what the first apply left: the ids that the service gave to new
targets. Out: `Report`. A field that a declaration can have and lacks has the service's default. What cannot be
compared, such as the address of a target, which is never answered, is a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from fleetc.blueprint.blueprint import RequestSecret, StreamBlueprint
from fleetc.language.stream import PLACEHOLDER
from fleetc.places.diagnostic import Path
from fleetc.stream_api import normal
from fleetc.stream_api.data import (
    DRIFT,
    IN_SYNC,
    LATER,
    MANUAL,
    NOTHING,
    PATCH,
    REPLACE,
    ApiRequest,
    Binding,
    Drift,
    Pending,
    Report,
    Wanted,
)
from fleetc.stream_api.normal import NormalTarget
from fleetc.stream_api.observed import STREAM, StreamAnswer
from fleetc.stream_api.steps import INACTIVE, steps


def reference_of(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """The identity of a target sent by spec: its profile, and the kind and name of its secret."""
    ((kind, name),) = row["spec"]["url"][PLACEHOLDER].items()
    return row["profile"], kind, name


def wanted_targets(
    request: Mapping[str, Any], observed: Mapping[str, Any], bindings: Collection[Binding] | None
) -> Wanted:
    """Find the id of each declared target, or that it has none yet.

    The given bindings bind a target by spec. Without bindings, or with an unknown id, it is the only unclaimed observed
    target of its kind. Where one could be meant and it is not certain, it is doubtful: sending it again would make one
    more.
    """
    rows = normal.target_rows(request)
    by_reference = {(b.profile, b.kind, b.reference): b.id for b in bindings or ()}
    sent = {reference for reference, known_id in by_reference.items() if not known_id}
    ids: list[str | None] = [row["id"] if "id" in row else by_reference.get(reference_of(row)) or None for row in rows]
    claimed = {(row["profile"], known_id) for row, known_id in zip(rows, ids, strict=True)}
    claimed |= {(binding.profile, binding.id) for binding in bindings or ()}
    free = [t for t in normal.targets(normal.target_rows(observed)) if (t.profile, t.id) not in claimed]
    homeless = Counter(_like(row) for row, known_id in zip(rows, ids, strict=True) if known_id is None)
    known: list[NormalTarget] = []
    bound: list[Binding] = []
    pending: list[Pending] = []
    doubtful: list[Pending] = []
    for place, (row, known_id) in enumerate(zip(rows, ids, strict=True)):
        alike = [t for t in free if (t.profile, t.video_only) == _like(row)]
        lost = "spec" in row and reference_of(row) in sent
        if known_id is None and (bindings is None or lost) and len(alike) == 1 and homeless[_like(row)] == 1:
            known_id = alike[0].id
        if known_id is None:
            (doubtful if alike or lost else pending).append(Pending(row, place))
            continue
        known.append(NormalTarget(row["profile"], known_id, row.get("videoOnly") is True))
        if "spec" in row:
            bound.append(Binding(*reference_of(row), known_id))
    kinds = {_like(item.row) for item in doubtful}
    rivals = tuple(target for target in free if (target.profile, target.video_only) in kinds)
    return Wanted(tuple(known), tuple(pending), tuple(doubtful), rivals, tuple(bound))


def _like(row: Mapping[str, Any]) -> tuple[str, bool]:
    return row["profile"], row.get("videoOnly") is True


class Comparison:
    """A comparison in progress: what differs, and what cannot be determined."""

    def __init__(self, secrets: Iterable[RequestSecret], resolved: Mapping[tuple[str, str], str]) -> None:
        self._secrets = {secret.place: (secret.kind, secret.reference) for secret in secrets}
        self._resolved = resolved
        self.drifts: list[Drift] = []
        self.notes: list[str] = []

    def leaves(self, path: Path, declared: Any, observed: Any, action: str, secret: bool = False) -> None:
        """Note each leaf below a path that differs."""
        if path in self._secrets:
            self._secret(path, declared, observed, action)
        elif isinstance(declared, dict) and isinstance(observed, dict):
            for key in dict.fromkeys((*declared, *observed)):
                inner = (*path, key)
                hidden = secret or inner[:2] in (("pull", "headers"), ("pull", "source"))
                self.leaves(inner, declared.get(key, NOTHING), observed.get(key, NOTHING), action, hidden)
        elif isinstance(declared, list) and isinstance(observed, list) and len(declared) == len(observed):
            for place, (own, other) in enumerate(zip(declared, observed, strict=True)):
                self.leaves((*path, place), own, other, action, secret)
        elif not normal.same(declared, observed):
            self.drifts.append(Drift(path, declared, observed, action, secret))

    def _secret(self, path: Path, declared: Any, observed: Any, action: str) -> None:
        kind, name = self._secrets[path]
        value = self._resolved.get((kind, name))
        if observed is NOTHING or (value is not None and value != observed):
            self.drifts.append(Drift(path, declared, observed, action, secret=True))
        elif value is None:
            self.notes.append(f"{'.'.join(map(str, path))} cannot be verified: its value is a secret of {kind} {name}")


def compare(
    blueprint: StreamBlueprint,
    answer: StreamAnswer,
    bindings: Collection[Binding] | None = None,
    resolved: Mapping[tuple[str, str], str] | None = None,
) -> Report:
    """How a stream differs from its declaration.

    `bindings` are None without stored ones; `resolved` has values of secrets by kind and name, where known.
    """
    if answer.kind != STREAM:
        return Report(blueprint.name, answer.kind, reasons=answer.reasons, notes=answer.notes)
    request, observed = blueprint.request.content, answer.stream
    comparison = Comparison(blueprint.secrets, resolved or {})
    later = LATER if observed.get("isActive") is True else PATCH
    comparison.leaves(("name",), request["name"], observed["name"], PATCH)
    creator, declared = normal.creator(observed), "creatorId" in request
    comparison.leaves(("creatorId",), request.get("creatorId", {}), creator, PATCH if declared else MANUAL)
    if creator and not declared:
        comparison.notes.append("the service never takes a creatorId away: declare it, or make a new stream")
    comparison.leaves(("userTags",), request.get("userTags", {}), observed.get("userTags", {}), PATCH)
    _pull(comparison, request, observed)
    _policy(comparison, request, observed)
    _profiles(comparison, normal.profiles(request), normal.profiles(observed), later)
    _recording(comparison, request, observed, later)
    wanted = wanted_targets(request, observed, bindings)
    _targets(comparison, wanted, observed)
    comparison.leaves(("suspended",), blueprint.suspended, observed.get("suspended") is True, PATCH)
    order = steps(blueprint, observed, comparison.drifts, wanted)
    drifts = tuple(_as_ordered(comparison.drifts, order))
    notes = (*answer.notes, *comparison.notes)
    return Report(
        blueprint.name,
        DRIFT if drifts else IN_SYNC,
        drifts,
        order,
        notes=notes,
        bindings=wanted.bindings,
    )


def _as_ordered(drifts: Iterable[Drift], order: Iterable[ApiRequest]) -> Iterator[Drift]:
    """Differences with the condition of the requests that fix them: targets may have to wait for their profiles."""
    waiting = {key for step in order if step.when == INACTIVE for key in step.body}
    for drift in drifts:
        yield drift._replace(action=LATER) if drift.action == PATCH and drift.path[0] in waiting else drift


def _policy(comparison: Comparison, request: Mapping[str, Any], observed: Mapping[str, Any]) -> None:
    """Who may play it. Of a public policy only what is declared counts, and nothing where the other side is public."""
    declared, seen = normal.policy(request), normal.policy(observed)
    if declared["type"] == "public":
        counted = {"type", *request.get("playbackPolicy", ())}
        declared, seen = ({key: side[key] for key in side if key in counted} for side in (declared, seen))
    elif seen["type"] == "public":
        comparison.leaves(("playbackPolicy", "type"), declared["type"], seen["type"], PATCH)
        return
    origins = [side.pop("allowedOrigins", []) for side in (declared, seen)]
    comparison.leaves(("playbackPolicy",), declared, seen, PATCH)
    if origins[0] != origins[1]:
        comparison.drifts.append(Drift(("playbackPolicy", "allowedOrigins"), origins[0], origins[1], PATCH))


def _pull(comparison: Comparison, request: Mapping[str, Any], observed: Mapping[str, Any]) -> None:
    """Another source needs another stream, so that any difference replaces it."""
    declared, seen = normal.pull(request), normal.pull(observed)
    if declared is None and seen is not None:
        comparison.drifts.append(Drift(("pull",), NOTHING, seen, REPLACE, secret=True))
    elif declared is not None and seen is None:
        comparison.drifts.append(Drift(("pull",), declared, NOTHING, REPLACE))
    elif declared is not None and seen is not None:
        seen["headers"] = normal.headers(seen["headers"], declared["headers"])
        comparison.leaves(("pull",), declared, seen, REPLACE)


def _profiles(
    comparison: Comparison, declared: Mapping[str, dict[str, Any]], seen: Mapping[str, dict[str, Any]], action: str
) -> None:
    """Profiles by name; their order is none of the differences."""
    for name in dict.fromkeys((*declared, *seen)):
        if name not in declared or name not in seen:
            sides = declared.get(name, NOTHING), seen.get(name, NOTHING)
            comparison.drifts.append(Drift(("profiles", name), *sides, action))
        else:
            comparison.leaves(("profiles", name), declared[name], _counted(declared[name], seen[name]), action)


def _counted(declared: Mapping[str, Any], seen: Mapping[str, Any]) -> dict[str, Any]:
    """A seen profile without the keys that count only where they are declared."""
    return {key: value for key, value in seen.items() if key in declared or key not in normal.OPTIONAL}


def _recording(comparison: Comparison, request: Mapping[str, Any], observed: Mapping[str, Any], later: str) -> None:
    """Whether it is recorded and, if it should be, into what; what is left of a former recording has no effect."""
    comparison.leaves(("record",), normal.record(request), normal.record(observed), later)
    if not normal.record(request):
        return
    path: Path = ("recordingSpec", "profiles")
    action = PATCH if normal.record(observed) else later
    declared, seen = normal.recording(request), normal.recording(observed)
    if declared is None or seen is None or len(declared) != len(seen):
        if declared is not seen:
            sides = [NOTHING if side is None else side for side in (declared, seen)]
            comparison.drifts.append(Drift(path, sides[0], sides[1], action))
        return
    for place, (own, other) in enumerate(zip(declared, seen, strict=True)):
        comparison.leaves((*path, place), own, _counted(own, other), action)


def _targets(comparison: Comparison, wanted: Wanted, observed: Mapping[str, Any]) -> None:
    """Targets as a set; the service never returns the address of one sent by spec."""
    seen = {(t.profile, t.id): t for t in normal.targets(normal.target_rows(observed))}
    known = {(t.profile, t.id): t for t in wanted.known}
    for key in sorted({*seen, *known}):
        path: Path = ("multistream", "targets", f"{key[0]} to {key[1]}")
        if key not in seen or key not in known:
            action = MANUAL if key in seen and seen[key] in wanted.rivals else PATCH
            sides = (known[key].row if key in known else NOTHING, seen[key].row if key in seen else NOTHING)
            comparison.drifts.append(Drift(path, *sides, action))
        else:
            comparison.leaves((*path, "videoOnly"), known[key].video_only, seen[key].video_only, PATCH)
    for row, place in wanted.pending:
        comparison.drifts.append(Drift(("multistream", "targets", place), row, NOTHING, PATCH))
    for row, place in wanted.doubtful:
        comparison.drifts.append(Drift(("multistream", "targets", place), row, NOTHING, MANUAL))
        note = f"multistream.targets.{place} may be there: write its id into the file with the ids; or remove its entry"
        comparison.notes.append(f"{note} there, and what is like it in the service, so that --apply makes it")
    for binding in wanted.bindings:
        comparison.notes.append(
            f"the address of target {binding.id} for {binding.profile} cannot be verified: the service never answers it"
        )
