"""A review for a terminal or a log: what changes, why, what it costs; short when little changes, bounded always.

In: a `Review`. Out: text. Text of a spec passes `plain_output`, so that it holds no escape sequence, no line break
and no command for a CI runner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleetc.review.data import Cause, Change, Effect, Review, RuleNote
from fleetc.review.reports import paired, wording
from fleetc.text.counting import counted, first_of
from fleetc.text.encoders import plain_output

_CHANGES = 40
_EFFECTS = 6
_CAUSES = 3
_NOTES = 10
_RULES = 30
_VALUE = 100
_SENTENCE = 400

_STYLES = {
    wording.CRITICAL: "1;37;41",
    **dict.fromkeys(("exposure", "funds"), "1;31"),
    **dict.fromkeys(("price", "identity"), "1;33"),
    **dict.fromkeys(("chain", "capacity", "cold-start"), "1;34"),
    "restart": "36",
    "live": "32",
    "none": "2",
}


def as_text(review: Review, colour: bool = False) -> str:
    """The review as text: at most some 500 lines of bounded length, whatever changes. `colour` adds ANSI colours."""
    alarm = wording.alarm(review)
    lines = [_painted(_plain(f"ERROR: {alarm}"), "1;31", colour)] if alarm else []
    lines += _rules(review.rules, colour)
    lines += [_plain(f"Review of {wording.clip(review.fleet, _VALUE)} against {review.baseline}")]
    lines += [_painted(wording.verdict(review), "1", colour)]
    lines += [_painted(_plain(f"{wording.gravest(review)}."), "1", colour)] if review.changes or review.foreign else []
    lines += [""]
    for change in review.changes[:_CHANGES]:
        lines += [*_change(change, colour), ""]
    rest = review.changes[_CHANGES:]
    if rest:
        counts = wording.by_gravest(rest)
        lines += [f"... and {counted(len(rest), 'more change')}, by most serious impact: {counts}", ""]
    if review.changes or review.files:
        lines += [wording.sentence(wording.files(review)), wording.sentence(wording.restarts(review))]
    for note in review.notes[:_NOTES]:
        lines.append(_painted("note:", "36", colour) + _plain(f" {note}"))
    if len(review.notes) > _NOTES:
        lines.append(f"... and {counted(len(review.notes) - _NOTES, 'more note')}")
    return "\n".join(lines).rstrip("\n") + "\n"


def _rules(notes: Sequence[RuleNote], colour: bool) -> Iterator[str]:
    """What became of the rules beside the spec, and what they find: before anything else."""
    if notes:
        yield _painted(_plain(f"Rules: {wording.rules_title(notes)}"), "1", colour)
    for note in notes[:_RULES]:
        style = {"error": "1;31", "warning": "1;33"}.get(note.severity, "36")
        yield f"{_painted(note.kind, style, colour)}  " + _plain(f"{note.code}: {note.text}")
        if note.place is not None and note.place.line:
            yield from _cause(note.place, colour)
        if note.help:
            yield _plain(f"    help: {note.help}")
    if len(notes) > _RULES:
        yield f"... and {counted(len(notes) - _RULES, 'more note')} of rules"
    if notes:
        yield ""


def _plain(text: str) -> str:
    return plain_output(wording.clip(text, _SENTENCE))


def _painted(text: str, style: str, colour: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if colour else text


def _change(change: Change, colour: bool) -> Iterator[str]:
    tags = ", ".join(_painted(tag, _STYLES[tag], colour) for tag in wording.tags(change))
    values = paired.values(change, _VALUE, "->", str, lambda text: wording.clip(text, _VALUE))
    yield f"{tags}  " + _plain(f"{change.kind} {wording.clip(change.what, _VALUE)}{values}")
    yield _plain(f"    {wording.where(change)}")
    effects, more = wording.effects(change, _EFFECTS)
    for effect in effects:
        yield _plain(f"    {_effect(effect)}")
    if more:
        yield f"    ... and {counted(more, 'more effect')}"
    for spot in change.causes[:_CAUSES]:
        yield from _cause(spot, colour)
    if len(change.causes) > _CAUSES:
        yield f"    ... and {counted(len(change.causes) - _CAUSES, 'more cause')}"


def _effect(effect: Effect) -> str:
    who = f" ({first_of(effect.who, 3)})" if effect.who else ""
    return f"{effect.impact}: {effect.text}{who}"


def _cause(spot: Cause, colour: bool) -> Iterator[str]:
    head = ": ".join(filter(None, (wording.place(spot), wording.reason(spot))))
    yield "    " + _painted("--> ", "34", colour) + _plain(head)
    if spot.line:
        text = wording.clip(wording.line_text(spot), _VALUE)
        yield "    " + _painted(f"{spot.line:>4} | ", "34", colour) + plain_output(text)
