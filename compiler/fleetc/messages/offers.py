"""The edits that a help line offers: each name that it asks about, and each value that it says to write.

In: a diagnostic and the spec that it is about. Out: fixes to choose from, best first. None is certain: editors and
programs offer them, `check --fix` does not make them. A value behind "such as" or "like" is an example, and no offer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from types import NoneType

import tomli

from fleetc.places.diagnostic import Diagnostic, Edit, EditKind, Fix, Path, Span, Value, fix_rename, fix_set
from fleetc.toml.document import Document, value_at

_TEXT = r'"[^"\n]*"'
_FLAT = rf"(?:{_TEXT}|true|false|-?\d+(?:\.\d+)?)"
_VALUE = rf"(?:{_FLAT}|\[{_FLAT}(?:, {_FLAT})*\]|\{{ \w+ = {_TEXT}(?:, \w+ = {_TEXT})* \}})"
_VALUES = rf"{_VALUE}(?:(?:,| or|, or) {_VALUE})*"
_NAME = r"[A-Za-z_][\w.-]*"
_PAIR = (
    rf"(?:\[\w+\] )?{_NAME} = {_VALUES}(?: or (?:another|more|less|newer))?(?: (?:in|into|for|under) \[?[\w.-]*\w\]?)?"
)
_END = r"(?=$|[,;.](?: |$)| (?:or|and|if|here|too|as well)\b| \()"
"""What ends a value that a help line offers."""
_EXAMPLE = re.compile(rf"\b(?:such as|like|as in|for example) (?:{_NAME} = )?{_VALUES}(?:, and {_VALUE})?")
"""An example, such as `such as "2 h"`."""
_TO = re.compile(rf"\b(?:raise|lower) ({_NAME})((?: of [\w-]+)?) to ({_VALUE})")
"""`raise KEY of NAME to VALUE`; the name may be missing."""
_ASKED = re.compile(rf"did you mean ({_TEXT}[^?]*)\?")
"""`did you mean "A" or "B"?`"""
_CHOICE = re.compile(rf"(?:^|\bwrite |: |, |\bor )({_VALUE})(?:{_END}| for )")
"""A value that stands alone: behind "write", a colon or a comma."""
_KNOWN = re.compile(r"\bknown(?: networks)?: ((?:[^\s,;]+(?:, |;|$))+)")
"""`known: a, b`"""
_PAIRS = re.compile(rf"(?<![\w.{{-])(?<!\{{ ){_PAIR}(?: and {_PAIR})*(?:{_END}|(?= to ))")
"""`KEY = VALUE in TABLE and KEY = VALUE`; the table may be missing."""
_PARTS = re.compile(rf"(?:\[(\w+)\] )?({_NAME}) = ({_VALUES})(?: or \w+)?(?: (?:in|into|for|under) \[?([\w.-]*\w))?")
"""The table, key, values and other table of one such pair."""


def offers(diagnostic: Diagnostic, document: Document) -> tuple[Fix, ...]:
    """The fixes that the help of a diagnostic offers, if it has no certain one and shows no secret."""
    label, place = diagnostic.primary, diagnostic.primary.place
    if diagnostic.fix is not None or label.secret or isinstance(place, Span) or not place:
        return ()
    advice = (
        _TO.sub(partial(_written, str(place[-1])), diagnostic.help) if " to " in diagnostic.help else diagnostic.help
    )
    advice = _EXAMPLE.sub("", advice)
    instead = _instead(_PAIRS.sub("", advice), place, label.on_key, document)
    return tuple(dict.fromkeys([*instead, *_pairs(advice, place, document)]))


def _written(key: str, to: re.Match[str]) -> str:
    """What "raise KEY of NAME to VALUE" asks to write."""
    return f"{key if to[1] == 'it' else to[1]} = {to[3]}{to[2].replace(' of ', ' for ')}"


def _instead(advice: str, place: Path, on_key: bool, document: Document) -> Iterator[Fix]:
    """Other names for a key, or other values."""
    there = _value(place, document)
    asked, known = _ASKED.search(advice), _KNOWN.search(advice)
    names = re.findall(_TEXT, asked[1]) if asked is not None else []
    if on_key or isinstance(there, dict):
        free = [
            name[1:-1] for name in names if isinstance(_value((*place[:-1], name[1:-1]), document), dict | NoneType)
        ]
        yield from (fix_rename(place, name) for name in free)  # an overlay may have a table of the spec
    elif there is not None and not isinstance(there, list):
        values = [*map(_read, names or _CHOICE.findall(advice)), *(known[1].strip(";").split(", ") if known else ())]
        yield from (fix_set(place, value) for value in values if value not in (None, there))


def _pairs(advice: str, place: Path, document: Document) -> Iterator[Fix]:
    """Values for keys that the help names, each key in its own table or in the one that stands with it."""
    for found in _PAIRS.findall(advice) if " = " in advice else ():
        parts = [
            (name.split("."), re.findall(_VALUE, values), _tables(above or table, place, document))
            for above, name, values, table in _PARTS.findall(found)
        ]
        for number in range(len(parts[0][1]) if len(parts) == 1 else 1):
            edits = [_edit(keys, _read(values[number]), tables, document) for keys, values, tables in parts]
            if all(edits):
                yield Fix(tuple(edit for edit in edits if edit is not None))


def _tables(named: str, place: Path, document: Document) -> list[Path]:
    """The table with this name; without one, those around a place, the innermost first."""
    paths = [place[:length] for length in range(len(place), -1, -1)]
    if named and named not in place[1:2]:
        paths = [tuple(int(part) if part.isdecimal() else part for part in named.split("."))]
    return [path for path in paths if isinstance(_value(path, document), dict)]


def _edit(keys: list[str], value: Value | None, tables: list[Path], document: Document) -> Edit | None:
    """The edit that gives a key its value, in the first table that has the key or may have it."""
    from fleetc.language.problems import known_keys  # only here: most messages offer no key

    for table in tables:
        path = (*table, *keys)
        there = _value(path, document)
        if there is not None or keys[-1] in known_keys(path[:-1]):
            insert = EditKind.INSERT if there is None else EditKind.SET
            return Edit(path, insert, value) if value not in (None, there) else None
    return None


def _read(text: str) -> Value | None:
    """A value as help lines write it; None for one with dots to fill in."""
    value = tomli.loads(f"value = {text}", parse_float=Decimal)["value"] if "..." not in text else None
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value


def _value(path: Path, document: Document) -> object:
    """The value at a path of the spec, or of its source form."""
    there = value_at(document.raw, path)
    return there if there is not None else value_at(document.written, path)
