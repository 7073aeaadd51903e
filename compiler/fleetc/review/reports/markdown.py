"""A review as the comment of a pull request, always shorter than a forge allows.

In: a `Review`. Out: GitHub Flavored Markdown of ASCII and a few signs of ours. What matters most comes first, the rest
is folded away and counted. Text of a spec is code or escaped text: never markup, a mention, a link or a table's border.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from fleetc.review.data import Cause, Change, Line, Review, RuleNote
from fleetc.review.reports import paired, wording
from fleetc.text.counting import counted, first_of
from fleetc.text.encoders import markdown_code, markdown_text, plain_output

LIMIT_BYTES = 60_000
"""A comment is shorter than this; GitHub refuses 65,536 characters."""

_CHANGES_BYTES = 50_000
_FOLDS_BYTES = 59_000
_OPEN = 20
_OPEN_AT_LEAST = 5
_NOTES = 5
_RULES = 10
_EFFECTS = 4
_CAUSES = 2
_SMALL = 100
"""So many files at most are shown with many of their lines; of more, the changes say enough."""

_DIFF_LINES, _DIFF_LINES_OF_MANY = 40, 8
_PROCESSES = 40
# Lengths of texts, chosen so that the head and any one change fit into their share even when all of it is escaped.
_NAME = 80
_VALUE = 80
_SENTENCE = 300
_NOTE = 200
_ESCAPED = 4


def as_markdown(review: Review) -> str:
    """The review as Markdown of less than LIMIT_BYTES: verdict, impacts, notes, the gravest changes, then folds."""
    lines = list(_head(review))
    size = _size(lines)
    blocks = []
    for change in review.changes:
        block = list(_change(change))
        size += _size(block)
        if size > _CHANGES_BYTES:
            break
        blocks.append(block)
    grave = sum(1 for change in review.changes[:_OPEN] if wording.impacts(change)[0] in wording.GRAVE)
    unfolded = max(grave, _OPEN_AT_LEAST)
    for block in blocks[:unfolded]:
        lines += block
    lines.append("")
    folded = [line for block in blocks[unfolded:] for line in block]
    lines += _fold(_more(review.changes[unfolded : len(blocks)]), folded)
    left = review.changes[len(blocks) :]
    if left:
        lines += [
            "",
            f"**Not shown here to save space: {_more(left)}.** The HTML and JSON reports have them all.",
            "",
        ]
    for fold in (
        _fold(wording.sentence(wording.files(review)), _files(review)),
        _fold("Processes that restart", _restarts(review)),
    ):
        if _size(lines) + _size(fold) < _FOLDS_BYTES:
            lines += fold
    return "\n".join(lines) + "\n"


def _text(text: str, limit: int, encode: Callable[[str], str] = markdown_text) -> str:
    """A text of at most so many characters; much shorter when its escaped spelling is many times as long."""
    shown = encode(wording.clip(text, limit))
    return shown if len(shown) <= _ESCAPED * limit else encode(wording.clip(text, limit // _ESCAPED))


def _code(text: str, limit: int) -> str:
    return _text(text, limit, markdown_code)


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _head(review: Review) -> Iterator[str]:
    if review.foreign:
        yield f"## ERROR: {_text(wording.alarm(review), _SENTENCE)}"
        yield ""
    yield from _rules(review.rules)
    yield f"### {markdown_text(wording.verdict(review))}"
    yield ""
    if review.changes or review.foreign:
        yield f"**{_text(wording.gravest(review), _SENTENCE)}.**"
        yield ""
    costs = markdown_text(f"{wording.files(review)}; {wording.restarts(review)}")
    fleet, baseline = _code(review.fleet, _NAME), _text(review.baseline, _SENTENCE)
    yield f"Fleet {fleet} against {baseline}. {wording.sentence(costs)}."
    tallies = wording.tallies(review)
    if tallies:
        yield from ("", "| Impact | Changes | Hosts | |", "|---|--:|--:|---|")
        for tally in tallies:
            meaning = _text(tally.example or wording.MEANINGS[tally.impact], _NOTE)
            yield f"| **{tally.impact}** | {tally.changes:,} | {tally.hosts or 'the fleet'} | {meaning} |"
    if review.notes:
        yield ""
        yield from (f"- Note: {_text(note, _NOTE)}" for note in review.notes[:_NOTES])
    if len(review.notes) > _NOTES:
        yield f"- and {counted(len(review.notes) - _NOTES, 'more note')}"
    yield ""


def _rules(notes: Sequence[RuleNote]) -> Iterator[str]:
    """What became of the rules beside the spec, and what they find: before anything else."""
    if not notes:
        return
    yield f"### Rules: {markdown_text(wording.rules_title(notes))}"
    yield ""
    for note in notes[:_RULES]:
        text, at = _text(note.text, _SENTENCE), note.place
        place = f", {_code(wording.place(at), _NAME)}" if at is not None and at.line else ""
        advice = f". {_text(note.help, _NOTE)}" if note.help else ""
        yield f"- **{note.kind}** {_code(note.code, _NAME)} ({note.severity}): {text}{place}{advice}"
    if len(notes) > _RULES:
        yield f"- and {counted(len(notes) - _RULES, 'more note')}"
    yield ""


def _more(changes: Sequence[Change]) -> str:
    """How many changes, by their gravest class."""
    return f"{counted(len(changes), 'more change')} ({wording.by_gravest(changes)})"


def _fold(title: str, lines: Iterable[str]) -> list[str]:
    """A part that opens on a click; nothing when it is empty. `title` holds no text of a spec."""
    inside = list(lines)
    return [f"<details><summary>{title}</summary>", "", *inside, "</details>"] if inside else []


def _change(change: Change) -> Iterator[str]:
    tags = ", ".join(f"**{tag}**" for tag in wording.tags(change))
    place = _text(wording.where(change), _SENTENCE)
    what = f"{_text(change.kind, _NAME)} {_code(change.what, _NAME)}"
    values = paired.values(change, _VALUE, "&rarr;", _value, _value)
    yield f"- {tags}: {what}{values}, {place}"
    effects, more = wording.effects(change, _EFFECTS)
    for effect in effects:
        who = f" ({_text(first_of(effect.who, 3), _NAME)})" if effect.who else ""
        yield f"  - {effect.impact}: {_text(effect.text, _SENTENCE)}{who}"
    if more:
        yield f"  - and {counted(more, 'more effect')}"
    for spot in change.causes[:_CAUSES]:
        yield f"  - {_cause(spot)}"
    if len(change.causes) > _CAUSES:
        yield f"  - and {counted(len(change.causes) - _CAUSES, 'more cause')}"


def _value(text: str) -> str:
    return _code(text, 2 * _VALUE)


def _cause(spot: Cause) -> str:
    text = spot.text.strip()
    shown = _code(text, _VALUE) if text else ""
    if spot.line and not text:
        shown = f"({wording.line_text(spot).strip('[]')})"
    reason = wording.reason(spot)
    parts = (_code(wording.place(spot), _NAME), shown, _text(reason, _SENTENCE))
    return "because of " + " ".join(filter(None, parts))


def _files(review: Review) -> Iterator[str]:
    """The changed lines as a diff. Each line begins with a sign of ours, so that none ends the fence."""
    groups = wording.by_gravity(wording.alike(review.files), wording.explained(review))
    room = _DIFF_LINES if len(review.files) <= _SMALL else _DIFF_LINES_OF_MANY
    shown: list[str] = []
    left = 0
    for group in groups:
        lines = list(_diff(group))
        if left or len(shown) + len(lines) > room:
            left += len(group.paths)
        else:
            shown += lines
    if shown:
        yield from ("```diff", *shown, "```")
    if left:
        yield f"and {counted(left, 'more file')}"


def _diff(group: wording.Alike) -> Iterator[str]:
    same = f", {group.same}" if group.same else ""
    yield plain_output(f"@@ {wording.clip(group.first.path, _NAME)} {group.first.state}{same} @@")
    for line in group.first.lines[:3]:
        yield from _line(line)
    if len(group.first.lines) > 3:
        yield f"# and {counted(len(group.first.lines) - 3, 'more line')}"


def _line(line: Line) -> Iterator[str]:
    old, new = paired.clip_pair(line.old, line.new, 2 * _VALUE)
    if old is not None:
        yield plain_output(f"- {old}")
    if new is not None:
        yield plain_output(f"+ {new}")


def _restarts(review: Review) -> Iterator[str]:
    """The processes with the sessions that they can drop, as one paragraph."""
    if review.restarts:
        shown = []
        for target, sessions in review.restarts:
            drop = "unknown" if sessions is None else f"{sessions:,}"
            shown.append(f"{_code(f'{target.host}/{target.node}', _NAME)} ({drop})")
        yield f"Live sessions that can drop at most, for each process: {first_of(shown, _PROCESSES)}."
