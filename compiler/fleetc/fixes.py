"""Fixes a spec where the fix is certain: the work of `fleetc check --fix`.

In: sources, and the fixes that diagnostics carry. Out: sources in which exactly those key paths differ, and what was
changed. Pure; `cli/` writes the files. `toml/edits.py` finds the text; here the result is read again and compared with
what the edits mean, and a fix that does anything else is left out.
"""

from __future__ import annotations

import copy
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Edit, EditKind, Fix
from fleetc.policy.judging import Policies
from fleetc.text import leaks
from fleetc.toml.document import Document, LineMap, Source, read_document, value_at
from fleetc.toml.edits import Sheet, TextEdit, locate, written
from fleetc.toml.scan import Layout

ROUNDS = 10
"""How often a spec is checked and fixed; problems that one fix uncovers are for the next round."""


class FileRepair(NamedTuple):
    """One piece of text that a fix changed: its place before, and both texts; "" stands for nothing.

    `hidden` says that the line may contain a secret and neither text must be shown.
    """

    fix: Fix
    file: str
    line: int
    column: int
    before: str
    after: str
    hidden: bool = False

    def __str__(self) -> str:
        if self.hidden:
            return "a line that is not shown, because it may contain a secret"
        return f"{self.before or 'nothing'} -> {self.after or 'nothing'}"


class Applied(NamedTuple):
    """Sources with fixes applied. `changes` says what was done; fixes that found no place have none."""

    sources: tuple[Source, ...]
    changes: tuple[FileRepair, ...]


class Repaired(NamedTuple):
    """A spec after all rounds: its sources, the remaining diagnostics, and (code, change) of every fix."""

    sources: tuple[Source, ...]
    checked: Checked
    repairs: tuple[tuple[str, FileRepair], ...]


def repair(sources: Sequence[Source], policies: Policies | None = None, today: date | None = None) -> Repaired:
    """Check and fix until no certain fix is left. A spec that cannot be read stays as it is."""
    current = tuple(sources)
    checked = check_spec(current, policies, today)
    repairs: list[tuple[str, FileRepair]] = []
    for _ in range(ROUNDS):
        codes = {d.fix: d.code for d in checked.diagnostics if d.fix is not None}
        if checked.document is None or not codes:
            break
        applied = apply(current, checked.document, codes)
        if not applied.changes:
            break
        repairs += [(codes[change.fix], change) for change in applied.changes]
        current, checked = applied.sources, check_spec(applied.sources, policies, today)
    return Repaired(current, checked, tuple(repairs))


def apply(sources: Sequence[Source], document: Document, fixes: Iterable[Fix]) -> Applied:
    """Make the fixes in the text of the sources that the document was read from. Nothing else changes.

    Fixes that meet in one place wait: the first one is made.
    """
    located = together(replacements(sources, document, fixes))
    by_pieces: dict[tuple[TextEdit, ...], Fix] = {}
    for fix, pieces in located.items():
        by_pieces.setdefault(pieces, fix)  # members of a class share its line
    texts = _with(sources, [piece for pieces in by_pieces for piece in pieces])
    after, _ = read_document(texts)
    edits = dict.fromkeys(edit for fix in by_pieces.values() for edit in _as_said(document, fix))
    if by_pieces and (after is None or not _means(document.written, edits, after.raw)):  # each is good alone
        return apply(sources, document, list(located)[: len(located) // 2])
    maps = [LineMap(source.text) for source in sources]
    changes = []
    for pieces, fix in by_pieces.items():
        for piece in pieces:
            line, column = maps[piece.source].position(piece.start)
            hidden = not (leaks.may_show(maps[piece.source].text(line)) and leaks.may_show(piece.after))
            changes.append(FileRepair(fix, sources[piece.source].name, line, column, piece.before, piece.after, hidden))
    return Applied(texts, tuple(changes))


def replacements(
    sources: Sequence[Source], document: Document, *groups: Iterable[Fix]
) -> dict[Fix, tuple[TextEdit, ...]]:
    """The pieces of text that make each fix when it is made alone; a fix that would do anything else has none.

    Those of a group are tried at once, so fixes that exclude each other belong in different ones.
    """
    sheets = _sheets(sources) if any(groups) else []
    found: dict[Fix, tuple[TextEdit, ...]] = {}
    for group in groups:
        located = {fix: _pieces(sheets, _as_said(document, fix)) for fix in group if fix not in found}
        pieces_of = {fix: pieces for fix, pieces in located.items() if pieces}
        found |= {fix: pieces_of[fix] for fix in _sound(sources, document, pieces_of, list(pieces_of))}
    return found


class Rewriting:
    """Makes one fix after another in the same sources, each alone. Where everything is in them is found once."""

    def __init__(self, sources: Sequence[Source], document: Document) -> None:
        self._sources = tuple(sources)
        self._document = document
        self._sheets = _sheets(sources)

    def rewritten(self, fix: Fix) -> tuple[Source, ...]:
        """The sources with the fix made; () if they have no place for it. Whoever reads them asks `is_meant`."""
        pieces = _pieces(self._sheets, _as_said(self._document, fix))
        return _with(self._sources, pieces) if pieces and _take([], pieces) else ()

    def is_meant(self, fix: Fix, after: Document) -> bool:
        """Whether the rewritten sources say what the fix means, and nothing else changed."""
        return _means(self._document.written, _as_said(self._document, fix), after.written)


def together(pieces: Mapping[Fix, tuple[TextEdit, ...]]) -> dict[Fix, tuple[TextEdit, ...]]:
    """The fixes that can be made at once, with their pieces. Of those that meet in one place the first one counts."""
    taken: list[tuple[int, int, int]] = []
    return {fix: some for fix, some in pieces.items() if _take(taken, some)}


def _pieces(sheets: Sequence[Sheet], edits: Sequence[Edit]) -> tuple[TextEdit, ...]:
    """The pieces of text that make the edits; () where one has no place, or the text says it all already."""
    located = [locate(sheets, edit) for edit in edits]
    pieces = tuple(piece for pieces in located for piece in pieces)
    return pieces if all(located) and not all(map(partial(_idle, sheets), pieces)) else ()


def _with(sources: Sequence[Source], pieces: Sequence[TextEdit]) -> tuple[Source, ...]:
    return tuple(replace(source, text=written(source.text, index, pieces)) for index, source in enumerate(sources))


def _sound(
    sources: Sequence[Source], document: Document, pieces: Mapping[Fix, tuple[TextEdit, ...]], some: list[Fix]
) -> list[Fix]:
    """Those of the fixes that do what they mean: tried together and, where that fails, in halves, as few are wrong."""
    if not some or _makes(sources, document, {fix: pieces[fix] for fix in some}):
        return some
    half = len(some) // 2
    if not half:
        return []
    return _sound(sources, document, pieces, some[:half]) + _sound(sources, document, pieces, some[half:])


def _makes(sources: Sequence[Source], document: Document, pieces: Mapping[Fix, Iterable[TextEdit]]) -> bool:
    """Whether the pieces make exactly what their fixes mean. Pieces that meet never do."""
    taken: list[tuple[int, int, int]] = []
    chosen = [piece for group in pieces.values() for piece in group]
    if not _take(taken, chosen):
        return False
    after, _ = read_document(_with(sources, chosen))
    edits = dict.fromkeys(edit for fix in pieces for edit in _as_said(document, fix))
    return after is not None and _means(document.written, edits, after.raw)


def _as_said(document: Document, fix: Fix) -> tuple[Edit, ...]:
    """The edits of a fix where the sources say the values: those of a member may be in its class.

    None where an edit has no such place, as the text of a member whose counter was filled in.
    """
    edits = []
    for edit in fix.edits:
        inserts = edit.action is EditKind.INSERT
        above = edit.path[:-1] if inserts else edit.path
        at = document.said_at(above) if above else above
        filled = edit.action is EditKind.SET and value_at(document.written, at) != value_at(document.raw, edit.path)
        names_a_member = edit.action is not EditKind.SET and not inserts and len(edit.path) == 2 and at != edit.path
        if (above and not at) or (filled and at != edit.path) or names_a_member:
            return ()
        edits.append(replace(edit, path=(*at, edit.path[-1]) if inserts else at))
    return tuple(edits)


def _sheets(sources: Sequence[Source]) -> list[Sheet]:
    return [Sheet(index, source.text, Layout(source.text)) for index, source in enumerate(sources)]


def _take(taken: list[tuple[int, int, int]], pieces: Iterable[TextEdit]) -> bool:
    """Put the pieces among those that are taken, in order; False when one overlaps. Insertions never do."""
    spans = [(piece.source, piece.start, piece.end) for piece in pieces]
    for done, span in enumerate(spans):
        place = bisect(taken, span)
        around = taken[max(0, place - 1) : place + 1]
        if any(source == span[0] and start < span[2] and span[1] < end for source, start, end in around):
            for other in spans[:done]:
                taken.remove(other)
            return False
        taken.insert(place, span)
    return True


def _idle(sheets: Sequence[Sheet], piece: TextEdit) -> bool:
    return sheets[piece.source].text[piece.start : piece.end] == piece.text


# ------------------------------------------------------------------------------------------------ what edits mean


_ORDER = {EditKind.SET: 0, EditKind.INSERT: 0, EditKind.RENAME: 1, EditKind.REMOVE: 2}


def _means(raw: dict[str, Any], edits: Iterable[Edit], after: dict[str, Any]) -> bool:
    """Whether `after` is what the edits make of `raw`. A list or a table whose last item went may be gone itself."""
    wanted: dict[str, Any] = dict(raw)
    own: dict[int, Any] = {}
    emptied: list[tuple[dict[str, Any], str]] = []
    for edit in sorted(edits, key=_order):
        owner: Any = None
        table: Any = wanted
        try:
            for part in edit.path[:-1]:
                owner, table = table, _owned(table, part, own)
            _change(table, edit)
        except (KeyError, IndexError, TypeError):
            return False
        if table in ([], {}) and isinstance(owner, dict):
            emptied.append((owner, str(edit.path[-2])))
    if wanted == after:
        return True
    for owner, key in emptied:
        owner.pop(key, None)
    return wanted == after


def _owned(table: Any, part: str | int, own: dict[int, Any]) -> Any:
    """What is in a table, copied the first time: what no edit touches stays shared. `own` keeps the copies alive."""
    inner = table[part]
    if id(inner) not in own:
        inner = table[part] = copy.copy(inner)
        own[id(inner)] = inner
    return inner


def _order(edit: Edit) -> tuple[int, int, list[int]]:
    """Every path is one of the spec before: so renames come late, inner ones first, and later items go first."""
    return _ORDER[edit.action], -len(edit.path), [-part if isinstance(part, int) else 0 for part in edit.path]


def _change(table: Any, edit: Edit) -> None:
    """One edit of plain values. Raises KeyError, IndexError or TypeError where it has no place."""
    key: Any = edit.path[-1]
    value: Any = edit.value
    if isinstance(value, tuple):
        value = dict(value) if value and isinstance(value[0], tuple) else list(value)
    there = key in table if isinstance(table, dict) else True
    if there == (edit.action is EditKind.INSERT):
        raise KeyError(key)
    if edit.action is EditKind.RENAME:
        table[value] = {**table[value], **table.pop(key)} if value in table else table.pop(key)
    elif edit.action is EditKind.REMOVE:
        del table[key]
    else:
        table[key] = value
