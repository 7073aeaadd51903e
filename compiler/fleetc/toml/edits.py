"""Finds the piece of TOML text that an edit of a key path changes, and writes it in the style of its surroundings.

In: the layouts of the sources (their `Scan` with statements and mentions) and an `Edit`. Out: `TextEdit` values, or
none where the text has no place for it. Called by `fixes.py`, which checks the result.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from operator import attrgetter
from typing import NamedTuple

from fleetc.places.diagnostic import Edit, EditKind, Path, Value
from fleetc.toml.scan import KeySpans, Layout, Statement, key_parts

_START = attrgetter("start")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_EQUALS = re.compile(r"([ \t]*)=([ \t]*)")
_BLANKS = re.compile(r"[ \t]*")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?(?=\n|\Z)")


class TextEdit(NamedTuple):
    """Replace `text[start:end]` of the source with this number by `text`.

    `before` and `after` are for people; either may be "".
    """

    source: int
    start: int
    end: int
    text: str
    before: str
    after: str


class Sheet(NamedTuple):
    """One source to write into: its place in the order of overlays, its text, and where everything is in it."""

    number: int
    text: str
    layout: Layout


def toml_value(value: Value, quote: str = '"') -> str:
    """A value as TOML text. A text gets the quote of what it replaces where that can hold it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return format(value, "f") if value != value.to_integral_value() else f"{value:.1f}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return f"{{ {', '.join(f'{toml_key(key)} = {toml_value(inner)}' for key, inner in value)} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if quote == "'" and value.isprintable() and "'" not in value:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A key as TOML text: bare where it can be."""
    return name if _BARE_KEY.fullmatch(name) else toml_value(name)


def locate(sheets: Sequence[Sheet], edit: Edit) -> list[TextEdit]:
    """The pieces of text that make the edit, in no order; none when no source has a place for it.

    The last source that sets the path or table gets the value or key; a root key goes to the base. A key is renamed
    wherever it stands.
    """
    if not edit.path:
        return []
    if edit.action is EditKind.RENAME:
        return [found for sheet in sheets for found in _rename(sheet, edit.path, str(edit.value))]
    into_root = edit.action is EditKind.INSERT and len(edit.path) == 1
    for sheet in sheets if into_root else reversed(sheets):
        if edit.action is EditKind.INSERT:
            found = _insert(sheet, edit)
        elif edit.path not in sheet.layout.marks:
            continue
        elif edit.action is EditKind.SET:
            found = _set(sheet, edit)
        else:
            found = _remove(sheet, edit.path)
        if found is not None:
            return [found]
    above = [_insert_above(sheet, edit) for sheet in reversed(sheets) if edit.action is EditKind.INSERT]
    return [found for found in above if found is not None][:1]


def written(text: str, index: int, pieces: Iterable[TextEdit]) -> str:
    """The text with its pieces replaced; those at one place in their order."""
    parts: list[str] = []
    end = 0
    for piece in sorted((p for p in pieces if p.source == index), key=lambda p: (p.start, p.end)):
        parts += [text[end : piece.start], piece.text]
        end = piece.end
    return "".join([*parts, text[end:]])


def _set(sheet: Sheet, edit: Edit) -> TextEdit | None:
    mark = sheet.layout.marks[edit.path]
    if _is_header(mark) or (mark.start == mark.key_start and isinstance(edit.path[-1], str)):
        return None  # a table of headers or dotted keys has no own text
    before = sheet.text[mark.start : mark.end]
    quote = "'" if before.startswith("'") and not before.startswith("'''") else '"'
    after = toml_value(edit.value, quote)
    return TextEdit(sheet.number, mark.start, mark.end, after, before, after)


def _is_header(mark: KeySpans) -> bool:
    """Whether a mark is a header's: only there the key stands inside."""
    return mark.start < mark.key_start


def _rename(sheet: Sheet, path: Path, name: str) -> Iterator[TextEdit]:
    after = toml_key(name)
    for mark in sheet.layout.mentions.get(path, ()):
        before = sheet.text[mark.key_start : mark.key_end]
        yield TextEdit(sheet.number, mark.key_start, mark.key_end, after, before, after)


# ------------------------------------------------------------------------------------------------------ insert


def _insert(sheet: Sheet, edit: Edit) -> TextEdit | None:
    table, key = edit.path[:-1], toml_key(str(edit.path[-1]))
    value = toml_value(edit.value)
    return (
        _insert_in_braces(sheet, table, key, value)
        or _insert_in_block(sheet, table, key, value)
        or _insert_dotted(sheet, table, key, value)
    )


def _insert_in_braces(sheet: Sheet, table: Path, key: str, value: str) -> TextEdit | None:
    """Behind the last pair of `{ a = 1 }`."""
    mark = sheet.layout.marks.get(table)
    if mark is None or not sheet.text.startswith("{", mark.start):
        return None
    shown = f"{key} = {value}"
    pairs = sheet.layout.pairs.get(table)
    if not pairs:
        return TextEdit(sheet.number, mark.start, mark.end, f"{{ {shown} }}", "", shown)
    text = f", {key}{_gap(sheet, len(key), pairs)}{value}"
    return TextEdit(sheet.number, pairs[-1].end, pairs[-1].end, text, "", shown)


def _insert_in_block(sheet: Sheet, table: Path, key: str, value: str) -> TextEdit | None:
    """On a line of its own behind the last pair under the table's header, or above all headers for the root."""
    pairs, header = sheet.layout.pairs.get(table), sheet.layout.headers.get(table)
    shown = f"{key} = {value}"
    if pairs:
        return _new_line(sheet, pairs[-1], key + _gap(sheet, len(key), pairs) + value, shown)
    if header is not None:
        return _new_line(sheet, header, shown, shown)
    if table:
        return None
    if not sheet.layout.ordered:
        begin = "" if sheet.text.endswith("\n") or not sheet.text else "\n"
        return TextEdit(sheet.number, len(sheet.text), len(sheet.text), f"{begin}{shown}\n", "", shown)
    at = _line_start(sheet.text, sheet.layout.ordered[0].start)
    return TextEdit(sheet.number, at, at, f"{shown}\n\n", "", shown)


def _insert_dotted(sheet: Sheet, table: Path, key: str, value: str) -> TextEdit | None:
    """Behind the last dotted key that reaches into the table, with the same beginning."""
    pairs = sheet.layout.dotted.get(table)
    if not pairs:
        return None
    last = pairs[-1]
    parts, _ = key_parts(sheet.text, last.start)
    prefix = sheet.text[last.start : parts[len(table) - len(last.table)][1]]
    line = prefix + key + _gap(sheet, len(prefix) + len(key), pairs) + value
    shown = f"{prefix}{key} = {value}"
    if last.inline:
        return TextEdit(sheet.number, last.end, last.end, f", {line}", "", shown)
    return _new_line(sheet, last, line, shown)


def _insert_above(sheet: Sheet, edit: Edit) -> TextEdit | None:
    """With a header of its own, above those below it: for a table that only these imply."""
    table = edit.path[:-1]
    below = next((one for one in sheet.layout.ordered if one.path[: len(table)] == table), None)
    if below is None:
        return None
    at, shown = _line_start(sheet.text, below.start), f"{toml_key(str(edit.path[-1]))} = {toml_value(edit.value)}"
    return TextEdit(
        sheet.number, at, at, f"[{'.'.join(toml_key(str(part)) for part in table)}]\n{shown}\n\n", "", shown
    )


def _gap(sheet: Sheet, width: int, pairs: Sequence[Statement]) -> str:
    """What stands between a new key of this width and its value: as in the last pair, in one column where all are."""
    styles: list[tuple[int, str, str]] = []
    for pair in pairs:
        _, end = key_parts(sheet.text, pair.start)
        equals = _EQUALS.match(sheet.text, end)
        if equals is not None:
            styles.append((end - pair.start, equals[1], equals[2]))
    _, before, after = styles[-1]
    columns = {own + len(blanks) for own, blanks, _ in styles}
    if len(columns) == 1 and len({own for own, _, _ in styles}) > 1:
        return " " * max(1, columns.pop() - width) + "=" + after
    return f"{before[:1]}={after}"


def _new_line(sheet: Sheet, last: Statement, line: str, shown: str) -> TextEdit:
    """A new line after a statement, with its indentation."""
    indent = sheet.text[_line_start(sheet.text, last.start) : last.start]
    rest = _REST_OF_LINE.match(sheet.text, last.end)
    at = rest.end() if rest else last.end
    return TextEdit(sheet.number, at, at, f"\n{indent}{line}", "", shown)


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


# ------------------------------------------------------------------------------------------------------ remove


def _remove(sheet: Sheet, path: Path) -> TextEdit | None:
    mark = sheet.layout.marks[path]
    if _is_header(mark):
        header = sheet.layout.headers.get(path)
        return _remove_block(sheet, header) if header is not None else None
    if isinstance(path[-1], int):
        return _remove_item(sheet, mark.start, mark.end)
    pairs = (s for length in range(len(path)) for s in sheet.layout.pairs.get(path[:length], ()))
    pair = next((s for s in pairs if s.path == path), None)
    if pair is None:
        return None
    return _remove_item(sheet, pair.start, pair.end) if pair.inline else _remove_lines(sheet, pair.start, pair.end)


def _remove_block(sheet: Sheet, header: Statement) -> TextEdit:
    """A header with all under it: its own pairs, and the tables below it that follow at once."""
    end = header.end
    ordered = sheet.layout.ordered
    for at in range(bisect_left(ordered, header.start, key=_START), len(ordered)):
        other = ordered[at]
        if other.path[: len(header.path)] != header.path:
            break
        end = max(end, other.end, *(pair.end for pair in sheet.layout.pairs.get(other.path, ())))
    return _remove_lines(sheet, header.start, end)


def _remove_lines(sheet: Sheet, start: int, end: int) -> TextEdit:
    """Whole lines with the comment at their end, and the blank line before them when another one follows."""
    text = sheet.text
    before = text[start:end].split("\n", 1)[0]
    first = _line_start(text, start)
    rest = _REST_OF_LINE.match(text, end)
    last = min((rest.end() if rest else end) + 1, len(text))
    blank_follows = text.startswith("\n", last)
    if text.endswith("\n\n", 0, first) and (blank_follows or last == len(text)):
        first -= 1
    elif first == 0 and blank_follows:
        last += 1
    return TextEdit(sheet.number, first, last, "", before, "")


def _remove_item(sheet: Sheet, start: int, end: int) -> TextEdit:
    """An item between brackets or braces, with the comma after it or, for the last one, the comma before it."""
    text = sheet.text
    before = text[start:end]
    behind = _blanks(text, end)
    lead = text[:start].rstrip(" \t")
    if text.startswith(",", behind):
        end = _blanks(text, behind + 1)
        line, rest = _line_start(text, start), _REST_OF_LINE.match(text, end)
        if rest and line == len(lead) and line > 0:  # nothing else is on these lines
            return TextEdit(sheet.number, line, min(rest.end() + 1, len(text)), "", before, "")
    elif lead.endswith(","):
        start = len(lead) - 1
    else:
        start, end = len(lead), behind
    return TextEdit(sheet.number, start, end, "", before, "")


def _blanks(text: str, pos: int) -> int:
    found = _BLANKS.match(text, pos)
    return found.end() if found else pos
