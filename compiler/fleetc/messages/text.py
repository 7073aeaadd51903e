"""Diagnostics for a terminal or a log, with source lines and carets.

In: located diagnostics. Out: text, with everything from a spec encoded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from fleetc.messages.locate import NAMES, Located, Place
from fleetc.places.diagnostic import Diagnostic, Edit, EditKind, Fix, Severity
from fleetc.text import leaks
from fleetc.text.encoders import plain_output, visible
from fleetc.toml.edits import toml_key, toml_value

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}
_LINE_LIMIT = 160
_SHOWN_LIMIT = 200


def as_text(located: Sequence[Located], colour: bool = False) -> str:
    """For a terminal or a log: one block for each diagnostic, and a count. Nothing of the spec is printed raw."""
    shown = located[:_SHOWN_LIMIT]
    blocks = ["\n".join(block(item, colour)) for item in shown]
    if len(located) > len(shown):
        blocks.append(f"... and {len(located) - len(shown)} more")
    blocks.append(count(located))
    return "\n\n".join(blocks) + "\n"


def _head(diagnostic: Diagnostic, colour: bool) -> str:
    head = f"{NAMES[diagnostic.severity]}[{diagnostic.code}]"
    return f"\x1b[1;{_COLOURS[diagnostic.severity]}m{head}\x1b[0m" if colour else head


def count(located: Sequence[Located]) -> str:
    """How many errors and warnings there are, in words."""
    words = []
    for severity in (Severity.ERROR, Severity.WARNING):
        number = sum(1 for item in located if item.diagnostic.severity is severity)
        if number:
            words.append(f"{number} {NAMES[severity]}{'s' if number > 1 else ''}")
    return ", ".join(words) or "no problems"


def block(item: Located, colour: bool = False) -> list[str]:
    """The lines that show one diagnostic on a terminal."""
    diagnostic = item.diagnostic
    places = (item.primary, *item.related)
    width = max(len(str(place.line)) for place in places)
    lines = [f"{_head(diagnostic, colour)}: {plain_output(diagnostic.message)}"]
    for index, place in enumerate(places):
        lines += _frame(
            place,
            width,
            colour,
            "^" if index == 0 else "-",
            _COLOURS[diagnostic.severity] if index == 0 else "34",
        )
    if diagnostic.help:
        lines += [f"{' ' * width} = help: {plain_output(diagnostic.help)}"]
    if diagnostic.fix is not None:
        lines += [f"{' ' * width} = fix: fleetc check --fix {plain_output(deeds(item, diagnostic.fix))}"]
    return lines


def deeds(item: Located, fix: Fix) -> str:
    """What a fix of a diagnostic does, as the end of a sentence, without secrets."""
    shown = ", ".join(map(_deed, fix.edits))
    return "writes this value in the right form" if item.withheld or not leaks.may_show(shown) else shown


def _deed(edit: Edit) -> str:
    """What an edit does, as the end of a sentence."""
    key = edit.path[-1]
    if edit.action is EditKind.REMOVE:
        named = ".".join(map(str, edit.path[-2:]))
        return f"removes {named}" if isinstance(key, str) else f"removes this entry of {edit.path[-2]}"
    if edit.action is EditKind.RENAME:
        return f"writes {toml_key(str(edit.value))} for {toml_key(str(key))}"
    value = toml_value(edit.value)
    return f"writes {value}" if isinstance(key, int) else f"writes {toml_key(key)} = {value}"


def _frame(place: Place, width: int, colour: bool, mark: str, hue: str) -> list[str]:
    margin = " " * width
    if not place.line:
        where = plain_output(place.file or place.path)
        return [f"{margin}--> {where}" + (f": {plain_output(place.note)}" if place.note else "")] if where else []
    if place.hidden:
        return _hidden_frame(place, margin, width)
    start = place.column - 1
    end = place.end_column - 1 if place.end_line == place.line else len(place.text)
    first = max(0, start - _LINE_LIMIT // 2) if len(place.text) > _LINE_LIMIT else 0
    text = place.text[first : first + _LINE_LIMIT]
    before = ("..." if first else "") + plain_output(text[: start - first])
    marked = _width(visible(text[start - first : max(end, start + 1) - first])) or 1
    after = "..." if first + _LINE_LIMIT < len(place.text) else ""
    carets = mark * marked + (f" {plain_output(place.note)}" if place.note else "")
    if colour:
        carets = f"\x1b[1;{hue}m{carets}\x1b[0m"
    return [
        f"{margin}--> {plain_output(place.file)}:{place.line}:{place.column}",
        f"{margin} |",
        f"{place.line:>{width}} | {before}{plain_output(text[start - first :])}{after}".rstrip(),
        f"{margin} | {' ' * _width(before)}{carets}",
    ]


def _hidden_frame(place: Place, margin: str, width: int) -> list[str]:
    """The place of a line that may hold a secret, without the line; the place alone if the line is not known."""
    where = f"{margin}--> {plain_output(place.file)}:{place.line}:{place.column}"
    if not place.text and not place.note:
        return [where]
    return [
        where,
        f"{margin} |",
        f"{place.line:>{width}} | [line not shown: it may contain a secret]",
        f"{margin} |" + (f" {plain_output(place.note)}" if place.note else ""),
    ]


def _width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def frames(shown: Sequence[Place], colour: bool = False) -> list[str]:
    """Lines that show places with their source lines and carets."""
    width = max((len(str(place.line)) for place in shown), default=1)
    return [line for place in shown for line in _frame(place, width, colour, "^", "34")]
