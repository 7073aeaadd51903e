"""Which lines of the tree depend on a value of the spec: tries another value and shows what changes.

In: sources with a sound spec, and a key path or a line of one of the sources. Out: `Affected`, and its text or JSON.
Called by `cli/` for `fleetc why`; `why.py` goes the other way, from a line of the tree to the spec.
The answer comes from compiling again, so it covers everything between spec and tree, including derivations and digests.
If no other value leaves the spec sound, the origins of all lines give the answer instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, takewhile
from typing import Any

from fleetc import lower
from fleetc.emit import formats
from fleetc.emit.tree import HOST_VARIABLES, MANIFEST, SPEC_FOLDER, Shipped, Tree, is_released
from fleetc.fixes import Rewriting
from fleetc.language.sharing import in_the_language
from fleetc.language.spec import json_schema
from fleetc.pipeline import Compiled, check_spec
from fleetc.places.diagnostic import Path, Value, fix_set
from fleetc.review.data import Line
from fleetc.review.lines import changed_tree_lines
from fleetc.review.other_values import alternatives, choices, further, leaves, words
from fleetc.review.why import UnknownPlaceError
from fleetc.text import leaks
from fleetc.text.counting import counted
from fleetc.text.encoders import plain_output
from fleetc.text.suggestions import did_you_mean
from fleetc.toml.document import Document, Source, value_at
from fleetc.toml.edits import toml_value
from fleetc.toml.scan import parse_key

VALUES_LIMIT = 40
"""How many values of one table are tried."""

CHOICES = 6
"""How many other words of a choice are tried."""

_DETAILS, _HEADS, _WIDTH = 6, 18, 80
"""Without `whole`: how many lines of the tree and how many values the text has, and how wide its lines are."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_ENTITY = re.compile(r"#(3[2-9]|[4-9]\d|1[01]\d|12[0-6]);")


@dataclass(frozen=True, slots=True)
class Affected:
    """One value and the lines that depend on it: `old` as they are and `new` as they would be.

    `tried` is the other value as TOML text; it is empty if none could be tried, and then every `new` is None.
    `following` has those lines that only follow from others: digests, and the copy of the spec.
    """

    path: Path
    value: str
    tried: str
    lines: tuple[Line, ...]
    following: frozenset[Line] = frozenset()


def places(document: Document, question: str) -> tuple[Path, ...]:
    """The places of the values that a key path or FILE:LINE names; a table means each of its values.

    The value of a member may be said in its class. Raises UnknownPlaceError.
    """
    name, _, number = question.rpartition(":")
    if name and number.isascii() and number.isdigit():
        on_line = tuple(_on_line(document, name, int(number[:9])))
        if not on_line:
            raise UnknownPlaceError(f"no value stands on line {number} of {name}", "name a line with a key or a table")
        return on_line
    parsed = parse_key(question)
    path = (_typed(document.raw, parsed) or _typed(document.written, parsed)) if parsed else None
    if path is None:
        known = {".".join(map(str, leaf[:end])) for leaf in leaves(document.raw) for end in range(1, len(leaf) + 1)}
        advice = did_you_mean(question, known, "write a key path of the spec, FILE:LINE, or a node and a flag")
        raise UnknownPlaceError(f'the spec has no "{question}"', advice)
    known = value_at(document.raw, path)
    paths = leaves(value_at(document.written, path) if known is None else known)
    return tuple(dict.fromkeys(document.said_at((*path, *below)) for below in paths))


def _typed(raw: Any, parts: Path) -> Path | None:
    """The path with numbers for the items of arrays; None if the spec has no such value."""
    path: list[str | int] = []
    for part in parts:
        number = isinstance(raw, list) and str(part).isdigit()
        path.append(int(str(part)[:9]) if number else part)
        raw = value_at(raw, (path[-1],))
        if raw is None:
            return None
    return tuple(path)


def _on_line(document: Document, name: str, line: int) -> Iterator[Path]:
    """The values that begin on a line, or those of the table whose header is on it."""
    names = [source.name for source in document.sources]
    matching = [source for source in names if source == name] or [
        source for source in names if source.endswith(f"/{name}")
    ]
    table: Path | None = None
    for path in leaves(document.written):
        for length in range(len(path), 0, -1):
            span = document.span(path[:length])
            if span is None or span.source not in matching:
                continue
            first, _ = document.position(span.source, span.start)
            last, _ = document.position(span.source, span.end)
            if length == len(path) and first <= line <= last:
                yield path
                break
            if first == line and length < len(path) and table in (None, path[:length]):
                table = path[:length]
                yield path
                break


class Trials:
    """Tries other values in one spec. `compiled` is the result for its sources, without errors."""

    def __init__(self, compiled: Compiled, sources: Sequence[Source], shipped: Shipped) -> None:
        document, fleet, tree = compiled.checked.document, compiled.checked.fleet, compiled.tree
        assert document is not None and fleet is not None and tree is not None  # noqa: S101  # there are no errors
        self._document, self._tree = document, tree
        self._checked, self._shipped = compiled.checked, shipped
        self._lowered = lower.lower_like(fleet)
        self._drafts = formats.Drafts(self._lowered.blueprint, *shipped, sources)
        self._rewriting = Rewriting(sources, document)
        self._known = {**document.written, **document.raw}

    def affected(self, path: Path, words_tried: int = CHOICES) -> tuple[Affected, ...]:
        """The lines that would change with the value at a path.

        A word of a choice is replaced by the `words_tried` most similar words that leave the spec sound. Other values
        get the nearest sound one, or a further one that changes more lines.
        """
        path = self._document.said_at(path) or path
        value = value_at(self._document.written, path)
        others = choices(self._known, value, words(json_schema(), in_the_language(path)))
        if trials := tuple(islice(filter(None, self._tried(path, others)), words_tried)):
            return trials
        nearest = next(filter(None, self._tried(path, alternatives(value))), None)
        if nearest is not None:
            return tuple(dict.fromkeys((nearest, _widest(nearest, self._tried(path, further(value))))))
        return (Affected(path, _shown(value), "", tuple(self._traced(path))),)

    def _tried(self, path: Path, candidates: Iterable[Value]) -> Iterator[Affected | None]:
        """What each candidate changes; None if the spec is then not sound."""
        value = _shown(value_at(self._document.written, path))
        for candidate in candidates:
            other = self._compiled(path, candidate)
            if other is None:
                yield None
                continue
            changed = list(changed_tree_lines(self._tree, other))
            following = frozenset(_covered(line) for line in changed if _follows(line))
            yield Affected(path, value, _shown(candidate), tuple(map(_covered, changed)), following)

    def _compiled(self, path: Path, value: Value) -> Tree | None:
        """The tree of the spec with another value at a path; None if that spec is not sound."""
        fix = fix_set(path, value)
        sources = self._rewriting.rewritten(fix)
        checked = check_spec(sources, like=self._checked) if sources else None
        if checked is None or checked.fleet is None or checked.document is None:
            return None
        if not self._rewriting.is_meant(fix, checked.document):
            return None
        lowered = lower.lower_like(checked.fleet, self._lowered)
        try:
            return formats.Drafts(lowered.blueprint, *self._shipped, sources, self._drafts).tree()
        except formats.UnfitError:
            return None

    def _traced(self, path: Path) -> Iterator[Line]:
        """The lines whose origins name the path, or the array that contains it: a list of values is one value."""
        named = {path, path[:-1]} if isinstance(path[-1], int) else {path}
        named_by = cache(lambda origin: any(self._document.said_at(place) in named for place in origin.paths))
        for draft in sorted(self._drafts.all(), key=lambda draft: draft.path):
            lines = draft.lines()
            # All rows of a table are there because of the same origins, which are as many as its rows.
            groups = {id(group): group for line in lines for group in (line.origins, *line.deciding)}
            naming = {key for key, group in groups.items() if any(map(named_by, group))}
            for number, line in enumerate(lines, 1):
                if not naming.isdisjoint(map(id, (line.origins, *line.deciding))):
                    yield _covered(Line(draft.path, number, 0, line.text, None))


def _widest(nearest: Affected, further: Iterator[Affected | None]) -> Affected:
    """The nearest of the values that change most lines; the search ends where a step further changes no more of them.

    A number may only matter beyond some other number, such as a count of hosts.
    """
    widest = nearest
    for trial in further:
        if trial is not None and trial.tried == nearest.tried:
            continue
        if trial is None or len(trial.lines) <= len(widest.lines):
            break
        widest = trial
    return widest


def _follows(line: Line) -> bool:
    """Whether a line has digests of others, or is the spec's own in the copy of it."""
    hashed = line.artifact == MANIFEST or line.artifact.startswith(HOST_VARIABLES)
    return line.artifact.startswith(SPEC_FOLDER) or (hashed and _DIGEST.search(line.old or line.new or "") is not None)


def _covered(line: Line) -> Line:
    """A line as it may be printed."""
    old, new = (None if text is None else leaks.shown(text) for text in (line.old, line.new))
    return replace(line, old=old, new=new)


def _shown(value: Any) -> str:
    text = toml_value(value)
    return leaks.masked(text) if leaks.find(text) is None else "a value that may hold a secret"


# --- text and JSON ------------------------------------------------------------------------------------


def as_text(trials: Sequence[Affected], whole: bool = False) -> str:
    """For a terminal: each value with the lines that depend on it, as they are and as they would be.

    `whole` has all values and all lines at their full length; otherwise it is one screen.
    """
    details = None if whole else _DETAILS if len(trials) == 1 else _DETAILS // 2 if len(trials) == 2 else 0
    shown = trials if whole else trials[:_HEADS]
    lines = [line for trial in shown for line in _lines(trial, details)]
    if any(not trial.tried for trial in shown):
        lines.append("by origin: no other value leaves the spec sound")
    if len(trials) > len(shown):
        lines.append(f"... and {counted(len(trials) - len(shown), 'more value')}")
    if details == 0:
        lines.append("--all lists the lines of each value")
    return "\n".join(lines) + "\n"


def _lines(trial: Affected, details: int | None) -> Iterator[str]:
    """The value, what was tried, how many lines depend on it; then the lines, those of hosts first."""
    telling = sorted(
        (line for line in trial.lines if line not in trial.following),
        key=lambda line: not is_released(line.artifact),
    )
    files = {line.artifact for line in telling}
    amount = f"{counted(len(telling), 'line')} in {counted(len(files), 'file')}" if telling else "no line"
    how = f"tried {trial.tried}" if trial.tried else "by origin"
    head = plain_output(f"{amount}: {'.'.join(map(str, trial.path))} = {trial.value} ({how})")
    yield head if details is None else _cropped(head, 0, _WIDTH)
    for line in telling[:details]:
        yield f"  {line.artifact}:{line.old_line or f'behind {line.new_line - 1}'}"
        texts = [None if text is None else plain_output(_read(line.artifact, text)) for text in (line.old, line.new)]
        differs = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*(text or "" for text in texts), strict=False))
        )
        for sign, text in zip("-+", texts, strict=True):
            if text is not None:
                yield f"    {sign} {text if details is None else _cropped(text, differs)}"
    if details and len(telling) > details:
        yield f"  ... and {len(telling) - details} more; --all lists them"
    if trial.following and details != 0:
        yield f"  {counted(len(trial.following), 'more line')} with digests, or in the copy of the spec"


def _cropped(text: str, at: int, room: int = _WIDTH - len("    - ")) -> str:
    """The part of a long line around a place; by default it fits the screen behind a sign."""
    if len(text) <= room:
        return text
    start = max(0, min(at - room // 2, len(text) - room + 3))
    before = "..." if start else ""
    end = start + room - len(before)
    return before + (text[start:] if end >= len(text) else text[start : end - 3] + "...")


def _read(artifact: str, text: str) -> str:
    """A line as people read it: pictures in FLEET.md have characters that mean something there as numbers."""
    if not artifact.endswith(".md"):
        return text
    return leaks.shown(_ENTITY.sub(lambda entity: chr(int(entity[1])), text))


def as_json(trials: Sequence[Affected]) -> str:
    """For programs: the values, each with its lines; line 0 and null mean that this side has no line."""
    values = [
        {
            "path": ".".join(map(str, trial.path)),
            "value": trial.value,
            "tried": trial.tried,
            "lines": [
                {name: getattr(line, name) for name in ("artifact", "old_line", "new_line", "old", "new")}
                for line in trial.lines
            ],
        }
        for trial in trials
    ]
    return json.dumps({"values": values}, indent=2) + "\n"
