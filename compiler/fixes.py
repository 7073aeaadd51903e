"""Repairs a spec where the repair is certain: the work of `fleetc check --fix`.

In: sources, and the fixes that diagnostics carry. Out: sources in which exactly those key paths differ, and what was
changed. Pure; `cli.py` writes the files. `edits.py` finds the text; here the result is read again and compared with
what the edits mean, and a fix that does anything else is left out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from compiler import leaks
from compiler.diagnostics import Action, Diagnostic, Edit, Fix
from compiler.edits import Sheet, TextEdit, locate, toml_key, toml_value
from compiler.pipeline import Checked, check_spec
from compiler.source import Document, LineMap, Source, parse
from compiler.spans import Layout

ROUNDS = 10
"""How often a spec is checked and repaired; what one repair uncovers is for the next round."""

_NOT_SHOWN = "[not shown: it may hold a secret]"


class Change(NamedTuple):
    """One piece of text that a fix changed: its place before, and both texts; "" stands for nothing."""

    fix: Fix
    file: str
    line: int
    column: int
    before: str
    after: str


class Applied(NamedTuple):
    """Sources with fixes in them. `changes` tells what was done; fixes that found no place have none."""

    sources: tuple[Source, ...]
    changes: tuple[Change, ...]


class Repaired(NamedTuple):
    """A spec after all rounds: its sources, what is still to say about it, and (code, change) of every repair."""

    sources: tuple[Source, ...]
    checked: Checked
    repairs: tuple[tuple[str, Change], ...]


def repair(sources: Sequence[Source]) -> Repaired:
    """Check and repair until nothing is left that has a certain repair. A spec that cannot be read stays as it is."""
    current = tuple(sources)
    checked = check_spec(current)
    repairs: list[tuple[str, Change]] = []
    for _ in range(ROUNDS):
        codes = {d.fix: d.code for d in checked.diagnostics if d.fix is not None}
        if checked.document is None or not codes:
            break
        applied = apply(current, checked.document, codes)
        if not applied.changes:
            break
        repairs += [(codes[change.fix], change) for change in applied.changes]
        current, checked = applied.sources, check_spec(applied.sources)
    return Repaired(current, checked, tuple(repairs))


def apply(sources: Sequence[Source], document: Document, fixes: Iterable[Fix]) -> Applied:
    """Make the fixes in the text of the sources that the document was read from. Nothing else changes.

    Fixes that meet in one place wait: the first one is made.
    """
    wanted = list(dict.fromkeys(fixes))
    applied = _apply(sources, document, wanted)
    if applied is not None:
        return applied
    current, here, changes = tuple(sources), document, []
    for fix in wanted:  # one of them does not do what it should: find the others
        one = _apply(current, here, [fix])
        if one is None or not one.changes:
            continue
        after, _ = parse(one.sources)
        if after is not None:
            current, here = one.sources, after
            changes += one.changes
    return Applied(current, tuple(changes))


def _apply(sources: Sequence[Source], document: Document, fixes: Iterable[Fix]) -> Applied | None:
    """All the fixes that have a place of their own; None when the result is not what they mean."""
    sheets = [Sheet(index, source.text, Layout(source.text)) for index, source in enumerate(sources)]
    chosen: list[TextEdit] = []
    made: list[Edit] = []
    changes: list[Change] = []
    lines = [LineMap(source.text) for source in sources]
    for fix in fixes:
        located = [locate(sheets, edit) for edit in fix.edits]
        found = [piece for pieces in located for piece in pieces]
        if not all(located) or _meet([*chosen, *found]) or all(_idle(sheets, piece) for piece in found):
            continue
        chosen += found
        made += fix.edits
        for piece in found:
            line, column = lines[piece.source].position(piece.start)
            changes.append(Change(fix, sources[piece.source].name, line, column, piece.before, piece.after))
    written = tuple(Source(source.name, _written(source.text, index, chosen)) for index, source in enumerate(sources))
    after, _ = parse(written)
    return Applied(written, tuple(changes)) if after is not None and _means(document.raw, made, after.raw) else None


def _meet(pieces: Sequence[TextEdit]) -> bool:
    """Whether two pieces overlap. Insertions at one place do not."""
    spans = sorted((piece.source, piece.start, piece.end) for piece in pieces)
    return any(
        one[0] == two[0] and (one[2] > two[1] or (one[1] < one[2] and one[1:] == two[1:]))
        for one, two in zip(spans, spans[1:], strict=False)
    )


def _idle(sheets: Sequence[Sheet], piece: TextEdit) -> bool:
    return sheets[piece.source].text[piece.start : piece.end] == piece.text


def _written(text: str, index: int, pieces: Iterable[TextEdit]) -> str:
    """The text with its pieces replaced; those at one place in their order."""
    parts: list[str] = []
    end = 0
    for piece in sorted((p for p in pieces if p.source == index), key=lambda p: (p.start, p.end)):
        parts += [text[end : piece.start], piece.text]
        end = piece.end
    return "".join([*parts, text[end:]])


# ------------------------------------------------------------------------------------------------ what edits mean


def _means(raw: dict[str, Any], edits: Sequence[Edit], after: dict[str, Any]) -> bool:
    """Whether `after` is what the edits make of `raw`. A list whose last item went may be gone itself."""
    wanted: dict[str, Any] = copy.deepcopy(raw)
    emptied: list[tuple[dict[str, Any], str]] = []
    order = sorted(edits, key=lambda edit: edit.action is Action.REMOVE)
    last = sorted((e for e in order if e.action is Action.REMOVE), key=lambda e: _numbers(e), reverse=True)
    for edit in [*(e for e in order if e.action is not Action.REMOVE), *last]:
        try:
            table: Any = wanted
            for part in edit.path[:-1]:
                owner, table = table, table[part]
            _change(table, edit)
        except (KeyError, IndexError, TypeError):
            return False
        if table == [] and isinstance(owner, dict):
            emptied.append((owner, str(edit.path[-2])))
    if wanted == after:
        return True
    for owner, key in emptied:
        owner.pop(key, None)
    return wanted == after


def _numbers(edit: Edit) -> tuple[tuple[bool, int, str], ...]:
    """An order of paths in which later items of a list come last."""
    return tuple((isinstance(p, int), p if isinstance(p, int) else 0, str(p)) for p in edit.path)


def _change(table: Any, edit: Edit) -> None:
    """One edit of plain values. Raises KeyError, IndexError or TypeError where it has no place."""
    key: Any = edit.path[-1]
    value = list(edit.value) if isinstance(edit.value, tuple) else edit.value
    if edit.action is Action.INSERT or (edit.action is Action.RENAME and value in table):
        if key in table or edit.action is Action.RENAME:
            raise KeyError(key)
        table[key] = value
    elif edit.action is Action.SET:
        if isinstance(table[key], dict):
            raise TypeError(key)
        table[key] = value
    elif edit.action is Action.RENAME:
        table[value] = table.pop(key)
    else:
        del table[key]


# ------------------------------------------------------------------------------------------------------ for people


def promise(diagnostic: Diagnostic) -> str:
    """What `fleetc check --fix` would do about a diagnostic, without anything that looks like a secret; "" if nothing."""
    if diagnostic.fix is None:
        return ""
    text = ", ".join(map(_deed, diagnostic.fix.edits))
    return text if not leaks.find(text) else "writes the value in the right form"


def _deed(edit: Edit) -> str:
    key = edit.path[-1]
    if edit.action is Action.REMOVE:
        return f"takes {key} away" if isinstance(key, str) else f"takes this entry of {edit.path[-2]} away"
    if edit.action is Action.RENAME:
        return f"writes {toml_key(str(edit.value))} for {toml_key(str(key))}"
    value = toml_value(edit.value)
    return f"writes {value}" if isinstance(key, int) else f"writes {toml_key(key)} = {value}"


def shown(change: Change) -> tuple[str, str]:
    """Both texts of a change, or what stands for them where they may hold a secret."""
    if leaks.find(change.before) or leaks.find(change.after):
        return _NOT_SHOWN, _NOT_SHOWN
    return change.before or "nothing", change.after or "nothing"
