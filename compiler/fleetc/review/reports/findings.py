"""A review as messages at lines of the spec, so that the forms of diagnostics serve for it: SARIF, annotations, JUnit.

In: a `Review`, the limits that it breaks. Out: `Located`, in the order of all messages. A change is at its line of the
new spec; if only the old spec explains it, at the spec as a whole. `messages/forms.py` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fleetc.messages.locate import Located, Place
from fleetc.places.diagnostic import Diagnostic, Label, Severity
from fleetc.review.data import IMPACTS, Cause, Change, Review, RuleNote
from fleetc.review.limits import Breach
from fleetc.review.reports import paired, wording
from fleetc.text.counting import counted

CODES = {impact: f"change-{impact}" for impact in IMPACTS} | {"none": "change-without-effect"}
"""The code of a change, by its gravest class of impact."""

LIMIT = "limit-broken"
_FOREIGN = "foreign-in-rollout"
_VALUE = 100
_EFFECTS = 4
_RELATED = 10


def located(review: Review, broken: Sequence[Breach], unchecked: Sequence[str], spec: str) -> list[Located]:
    """Each change is a warning where it is grave, else a note; what no review covers and broken limits are errors.

    `unchecked` is why limits cannot be checked at all, in sentences; `spec` is the file of what has no line.
    """
    items = [_change(change, spec) for change in review.changes]
    items += [_rule(note, spec) for note in review.rules]
    items += [_breach(breach, spec) for breach in broken]
    items += [_located(LIMIT, Severity.ERROR, reason, "", (_whole(spec),)) for reason in unchecked]
    if review.foreign:
        advice = "put into the spec what is meant, remove what is foreign, and run fleetc compile"
        items.append(_located(_FOREIGN, Severity.ERROR, wording.alarm(review), advice, (_whole(spec),)))
    return sorted(items, key=lambda item: item.key)


def _change(change: Change, spec: str) -> Located:
    (gravest, *_) = wording.impacts(change)
    severity = Severity.WARNING if gravest in wording.GRAVE else Severity.NOTE
    alarm = next((effect.headline for effect in change.effects if effect.weight == "critical"), "")
    message = f"{alarm}: {_sentence(change)}" if alarm else _sentence(change)
    return _located(CODES[gravest], severity, message, _meaning(change), _places(change.causes, spec))


def _rule(note: RuleNote, spec: str) -> Located:
    """The notes of a review about a rule, under the code of the rule."""
    severity = {"error": Severity.ERROR, "warning": Severity.WARNING}.get(note.severity, Severity.NOTE)
    where = next((_place(cause, "") for cause in _new([note.place] if note.place else [])), _whole(spec))
    return _located(note.code, severity, note.text, note.help, (where,))


def _sentence(change: Change) -> str:
    values = paired.values(change, _VALUE, "->", str, lambda text: wording.clip(text, _VALUE))
    return f"{change.kind} {wording.clip(change.what, _VALUE)}{values}, {wording.where(change)}"


def _meaning(change: Change) -> str:
    effects, more = wording.effects(change, _EFFECTS)
    words = [f"{effect.impact}: {effect.text}" for effect in effects]
    return "; ".join([*words, f"and {counted(more, 'more effect')}"] if more else words)


def _breach(breach: Breach, spec: str) -> Located:
    """A broken limit, at the line of its worst change; the other changes that break it are related."""
    causes = [next(_new(change.causes), None) for change in breach.changes]
    places = [_place(cause, _sentence(change)) for cause, change in zip(causes, breach.changes, strict=True) if cause]
    pairs = ((note, note.place) for note in breach.rules if note.place is not None)
    places += [_place(cause, note.text) for note, cause in pairs if cause.side == "new" and cause.line]
    advice = "make the change smaller, or let an owner of the limit approve it"
    at = tuple(places[:_RELATED]) or (_whole(spec),)
    return _located(LIMIT, Severity.ERROR, f"the limit {breach}", advice, at)


def _places(causes: Iterable[Cause], spec: str) -> tuple[Place, ...]:
    places = tuple(_place(cause, wording.reason(cause)) for cause in _new(causes))
    return places[:_RELATED] or (_whole(spec),)


def _whole(spec: str) -> Place:
    """The place of what has no line of the spec."""
    return Place(spec, 0, 0, 0, 0, "", "", "")


def _new(causes: Iterable[Cause]) -> Iterator[Cause]:
    """Those with a line in the spec as it is now; a line of the old one would point at something else."""
    return (cause for cause in causes if cause.side == "new" and cause.line)


def _place(cause: Cause, note: str) -> Place:
    """The rest of the line: how long the value is, a review does not say."""
    end = max(cause.column + 1, len(cause.text.rstrip()) + 1)
    return Place(cause.file, cause.line, cause.column, cause.line, end, note, cause.path, cause.text, cause.hidden)


def _located(code: str, severity: Severity, message: str, advice: str, places: tuple[Place, ...]) -> Located:
    primary, *related = places
    key = (primary.file, primary.line, primary.column, int(severity), code, message)
    return Located(key, Diagnostic(code, severity, message, Label(()), help=advice), primary, tuple(related))
