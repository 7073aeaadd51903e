"""Parses one TOML text with `tomli`, and refuses what a spec must not contain, before and after parsing.

In: a decoded text. Out: plain values, or diagnostics at offsets. Called by `document.py`. Much is checked before
parsing, because some short texts cost a TOML parser minutes and gigabytes: a key of 200,000 parts does. It accepts TOML
1.0 without times, NaN, infinity and empty keys, and days only for `DAY_KEYS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from enum import Enum, auto
from typing import Any, NamedTuple

import tomli

from fleetc.places.diagnostic import Diagnostic, Label, Path, Span, error
from fleetc.text.encoders import HIDDEN
from fleetc.toml.scan import KEY_PART, STRINGS, Scan
from fleetc.toml.syntax_errors import cut, explain

MAX_DEPTH = 64
"""How deep tables and arrays may nest, counted over headers, dotted keys and brackets."""
MAX_KEY_PARTS = 16
"""Parts of one dotted key."""
MAX_LINE = 65536
"""Characters in one line."""
DAY_KEYS = ("until",)
"""Keys whose value may be a day, as TOML writes one. Anywhere else a day is usually a version that lost its quotes."""
_INT64 = 2**63
_MAX_EXPONENT = 400  # beyond a float's range; int() of a Decimal such as 1e1000000 takes half a minute
_SHOWN = 20

_ODD = re.compile(r"[^\n\t -~]+")
_MANY_DOTS = re.compile(rf"\.(?:[ \t]*+(?:{KEY_PART})[ \t]*+\.){{{MAX_KEY_PARTS - 1}}}", re.DOTALL)
_TOKEN = re.compile(rf"{STRINGS}|#[^\n]*+|[0-9][0-9_]*+|[.=,\[\]{{}}\n]", re.DOTALL)
_ESCAPE = re.compile(r"\\[uUbfr]")


class _Kind(Enum):
    """What a spec may not hold."""

    HIDDEN = auto()
    HIDDEN_KEY = auto()
    EMPTY_KEY = auto()
    NUMBER = auto()
    DATE = auto()
    DEPTH = auto()


class _Problem(NamedTuple):
    kind: _Kind
    path: Path
    char: str = ""


def read(name: str, text: str) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Check and parse one text; `name` is its source's name. The table is empty when there are diagnostics.

    Values are dict, list, str, bool, int within 64 bits, finite Decimal, and date at `DAY_KEYS`. Never raises.
    """
    found = _hidden(name, text) or _too_complex(name, text)
    if found:
        return {}, found
    try:
        raw = tomli.loads(text, parse_float=_decimal)
    except RecursionError:
        return {}, [_too_deep(name, text, ())]
    except tomli.TOMLDecodeError as failure:
        return {}, explain(name, text, failure)
    except ValueError:  # Python refuses to read an integer of thousands of digits
        return {}, [_long_number(name, text)]
    problems: list[_Problem] = []
    _walk(raw, (), _ESCAPE.search(text) is not None, problems)
    return ({}, list(_described(name, text, problems))) if problems else (raw, [])


def _decimal(text: str) -> Decimal:
    """Read a float exactly. NaN, which is refused later with its place, for what Decimal cannot hold."""
    try:
        return Decimal(text)
    except ArithmeticError:
        return Decimal("NaN")


def _hidden(name: str, text: str) -> list[Diagnostic]:
    """Characters that a reader cannot see, comments included; the first few."""
    found: list[Diagnostic] = []
    for odd in _ODD.finditer(text):
        for hidden in HIDDEN.finditer(odd.group()):
            start = odd.start() + hidden.start()
            found.append(_hidden_at(_label(name, start, start + 1), hidden.group()))
            if len(found) == _SHOWN:
                return found
    return found


def _hidden_at(place: Label, char: str) -> Diagnostic:
    what = {"\r": "a carriage return", "\ufeff": "a byte order mark"}.get(char, "a hidden character")
    advice = "save the file with LF line endings" if char == "\r" else "remove it"
    return error("hidden-character", f"{what}, U+{ord(char):04X}, is not allowed in a spec", place, help=advice)


def _too_complex(name: str, text: str) -> list[Diagnostic]:
    """The first line or key so long that it would choke the parser."""
    start = 0
    while len(text) - start > MAX_LINE:
        line_end = text.rfind("\n", start, start + MAX_LINE + 1)
        if line_end < 0:
            message = f"this line is longer than {MAX_LINE} characters"
            return [_complex(name, start, message, "break it into several lines")]
        start = line_end + 1
    if not _MANY_DOTS.search(text):  # the inside of a string can match as well, so look closely only now
        return []
    dots = 0
    for token in _TOKEN.finditer(text):
        if token.group() == ".":
            dots += 1
            if dots == MAX_KEY_PARTS:
                message = f"this key has more than {MAX_KEY_PARTS} parts"
                return [_complex(name, token.start(), message, "use fewer levels of tables")]
        elif token.group() in ("\n", "=", ",", "[", "]", "{", "}"):
            dots = 0
    return []


def _too_deep(name: str, text: str, path: Path) -> Diagnostic:
    """Nesting beyond MAX_DEPTH: at the bracket that goes too far, or at `path` when dotted keys do."""
    message, advice = f"this is nested more than {MAX_DEPTH} levels deep", "use fewer levels of tables and arrays"
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token.group() in ("[", "{")) - (token.group() in ("]", "}"))
        if depth > MAX_DEPTH:
            return _complex(name, token.start(), message, advice)
    return _complex(name, Scan(text).marks[path].key_start if path else 0, message, advice)


def _complex(name: str, offset: int, message: str, advice: str) -> Diagnostic:
    return error("spec-too-complex", message, _label(name, offset, offset + 1), help=advice)


def _long_number(name: str, text: str) -> Diagnostic:
    digits = (token for token in _TOKEN.finditer(text) if token.group()[0] in "0123456789")
    longest = max(digits, key=lambda token: len(token.group()))
    return _number(_label(name, longest.start(), longest.end()))


def _number(place: Label) -> Diagnostic:
    message = "this number is out of range: whole numbers go from -2^63 to 2^63-1, others must be finite"
    advice = 'write a number within the range; for an amount, write text with its unit: "5 ETH"'
    return error("number-out-of-range", message, place, help=advice)


def _label(name: str, start: int, end: int) -> Label:
    return Label(Span(name, start, end))


def _walk(container: Any, path: Path, escaped: bool, problems: list[_Problem]) -> None:
    """Collect what TOML allows and a spec does not; `escaped`: the text has escapes that could hide it."""
    if len(path) > MAX_DEPTH:
        problems.append(_Problem(_Kind.DEPTH, path))
        return
    is_table = type(container) is dict
    if is_table:
        if "" in container:
            problems.append(_Problem(_Kind.EMPTY_KEY, (*path, "")))
        if escaped:
            for key in container:
                if hidden := HIDDEN.search(key):
                    problems.append(_Problem(_Kind.HIDDEN_KEY, (*path, key), hidden.group()))
    for key, value in container.items() if is_table else enumerate(container):
        kind = type(value)
        if kind is str:
            if escaped and (hidden := HIDDEN.search(value)):
                problems.append(_Problem(_Kind.HIDDEN, (*path, key), hidden.group()))
        elif kind is dict or kind is list:
            _walk(value, (*path, key), escaped, problems)
        elif kind is int:
            if not -_INT64 <= value < _INT64:
                problems.append(_Problem(_Kind.NUMBER, (*path, key)))
        elif kind is Decimal:
            if not value.is_finite() or abs(value.adjusted()) > _MAX_EXPONENT:
                problems.append(_Problem(_Kind.NUMBER, (*path, key)))
        elif kind is not bool and not (kind is date and key in DAY_KEYS):
            problems.append(_Problem(_Kind.DATE, (*path, key)))


def _described(name: str, text: str, problems: list[_Problem]) -> Iterator[Diagnostic]:
    """The diagnostics for what the walk found. Too deep a nesting hides the rest."""
    for problem in problems:
        if problem.kind is _Kind.DEPTH:
            yield _too_deep(name, text, problem.path)
            return
    marks = Scan(text).marks
    for kind, path, char in problems:
        mark = marks[path]
        key = _label(name, mark.key_start, mark.key_end)
        value = _label(name, mark.start, mark.end)
        if kind is _Kind.HIDDEN or kind is _Kind.HIDDEN_KEY:
            yield _hidden_at(value if kind is _Kind.HIDDEN else key, char)
        elif kind is _Kind.EMPTY_KEY:
            yield error("empty-key", "a key cannot be empty", key, help="give it a name")
        elif kind is _Kind.NUMBER:
            yield _number(value)
        else:
            yield _date(value, str(path[-1]), cut(text[mark.start : mark.end]))


def _date(place: Label, key: str, written: str) -> Diagnostic:
    """A misplaced date or time."""
    if key in DAY_KEYS:
        return error("date-value", f"{key} takes a day without a time", place, help="write it like 2027-01-31")
    advice = f'write it as text, in quotes: "{written}"'
    return error("date-value", "this setting takes no date and no time", place, help=advice)
