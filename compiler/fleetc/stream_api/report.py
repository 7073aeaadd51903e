"""Prints the state of streams, and what became of changes: for people, and for programs.

In: `Report`s. Out: text, or plain values for JSON. Answers are shown only if they cannot be secrets. Bodies of requests
are whole: they have placeholders for secrets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fleetc.emit.artifacts import json_document
from fleetc.stream_api import scrub
from fleetc.stream_api.data import IN_SYNC, NOTHING, ApiRequest, Drift, Report
from fleetc.stream_api.outcome import UNCHANGED, Applied
from fleetc.stream_api.steps import INACTIVE
from fleetc.text import leaks
from fleetc.text.encoders import visible

_KINDS = {
    "in_sync": "is as declared",
    "drift": "differs from its declaration",
    "missing": "does not exist",
    "not_a_stream": "cannot be compared",
    "invalid_response": "cannot be compared",
    "unreachable": "could not be read",
    "unknown": "may exist or not",
}
_ACTIONS = {
    "patch": "can be patched",
    "patch_when_inactive": "can be patched while the stream is inactive",
    "replace": "needs a new stream: remove the id of this one, apply, then end the old stream",
    "manual": "needs a person",
}


def as_text(report: Report) -> str:
    """For a terminal or a log."""
    lines = [f"stream {visible(report.stream)}: {report.kind}: it {_KINDS[report.kind]}"]
    lines += [f"  {visible(reason)}" for reason in report.reasons]
    for drift in report.drifts:
        lines.append(f"  {_dotted(drift)}: {_ACTIONS[drift.action]} ({drift.action})")
        lines += [f"    declared: {_line(_declared(drift))}", f"    observed: {_line(_observed(drift))}"]
    for number, step in enumerate(report.steps, 1):
        lines.append(f"step {number}: {_step(step)}")
        lines += [f"  {line}" for line in json_document(step.body).splitlines()]
    lines += [f"note: {visible(note)}" for note in report.notes]
    return "\n".join(lines) + "\n"


def _step(step: ApiRequest) -> str:
    when = " while the stream is inactive" if step.when == INACTIVE else ""
    return f"{step.method} {visible(step.path)}{when} ({visible(step.reason)})"


def _dotted(drift: Drift) -> str:
    return ".".join(scrub.value(str(part)) for part in drift.path)


def _line(shown: Any) -> str:
    return "nothing" if shown is NOTHING else re.sub(r"\n *", " ", json_document(shown)).strip()


def _declared(drift: Drift) -> Any:
    """The declared value, without what looks like a secret; references are shown."""
    return _shown(drift.declared, named=False)


def _observed(drift: Drift) -> Any:
    """The observed value, without what is a secret by its place, by the name of a key or by its looks."""
    named = any(isinstance(part, str) and leaks.names_secret(part) for part in drift.path)
    if drift.observed is not NOTHING and (drift.secret or named):
        return scrub.HIDDEN
    return _shown(drift.observed, named=True)


def _shown(value: Any, named: bool) -> Any:
    """A value without likely secrets and, if `named`, without values of secret keys."""
    if isinstance(value, str):
        return scrub.value(value)
    if isinstance(value, dict):
        return {
            scrub.value(key): scrub.HIDDEN if named and leaks.names_secret(key) else _shown(item, named)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_shown(item, named) for item in value]
    return value


def as_data(report: Report) -> dict[str, Any]:
    """Plain values for JSON. A side that has nothing at a place lacks its key."""
    return {
        "stream": report.stream,
        "kind": report.kind,
        "reasons": list(report.reasons),
        "drifts": [_drift(drift) for drift in report.drifts],
        "steps": [step._asdict() for step in report.steps],
        "bindings": [binding._asdict() for binding in report.bindings],
        "notes": list(report.notes),
    }


def _drift(drift: Drift) -> dict[str, Any]:
    sides = {
        "declared": _declared(drift),
        "observed": _observed(drift),
    }
    path = [scrub.value(part) if isinstance(part, str) else part for part in drift.path]
    return {
        "path": path,
        **{key: value for key, value in sides.items() if value is not NOTHING},
        "action": drift.action,
    }


def all_as_text(reports: Sequence[Report], applied: Sequence[Applied] | None) -> str:
    """For a terminal or a log: differences, results of changes, a count, and notes.

    Notes about streams that are as declared are printed once each, unless there is only one stream.
    """
    apart = [report for report in reports if report.kind != IN_SYNC or len(reports) == 1]
    parts = [as_text(report) for report in apart]
    for done in applied or ():
        if done.result != UNCHANGED:
            parts.append(f"{visible(done.stream)}: {done.result.replace('_', ' ')}{_accepted(done.accepted)}\n")
            parts += [f"  {visible(reason)}\n" for reason in done.reasons]
    if len(reports) != 1:
        notes = Counter(note for report in reports if report.kind == IN_SYNC for note in report.notes)
        parts += [
            f"note: {visible(note)}{f' ({count} streams)' if count > 1 else ''}\n" for note, count in notes.items()
        ]
    kinds = Counter(report.kind for report in reports)
    tally = ", ".join(f"{kinds[kind]} {kind}" for kind in _KINDS if kinds[kind])
    counted = "1 stream" if len(reports) == 1 else f"{len(reports)} streams"
    return "".join([*parts, f"{counted}{': ' if tally else ''}{tally}\n"])


def _accepted(count: int) -> str:
    return f" (the service accepted {count} {'request' if count == 1 else 'requests'})" if count else ""


def all_as_json(
    reports: Sequence[Report],
    diagnostics: list[dict[str, Any]],
    applied: Sequence[Applied] | None,
    plan: Sequence[Report] | None,
) -> str:
    """For programs: diagnostics of the spec, reports, and of a run that changed streams its plan and its outcome."""
    changed = {}
    if applied is not None:
        changed = {
            "plan": [as_data(report) for report in plan or ()],
            "applied": [{**done._asdict(), "reasons": list(done.reasons)} for done in applied],
        }
    return json_document({"diagnostics": diagnostics, "streams": [as_data(report) for report in reports], **changed})
