"""Writes the tables of an adopted fleet as a spec, in the form of `fleetc fmt`.

In: `Assembled`. Out: TOML text. Comments say where tables come from, and what is left to answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import tomli_w

from fleetc.adopt.tables.assembled import Assembled
from fleetc.adopt.tables.session import Table
from fleetc.formatting import in_one_form
from fleetc.language.fleet import NEWEST, Fleet
from fleetc.text.encoders import visible

_BARE = re.compile("[A-Za-z0-9_-]+")
_WIDE = 100


def written(assembled: Assembled) -> str:
    """The text of the spec."""
    lines = [f"spec = {NEWEST}", "", *_table("fleet", assembled.fleet)]
    for kind in Fleet.model_fields:
        for name, table in assembled.tables.get(kind, {}).items():
            lines += ["", *_table(f"{kind}.{_key(name)}", table)]
    return in_one_form("\n".join(lines) + "\n")


def _table(header: str, table: Table) -> Iterator[str]:
    """A table: questions without an example stand above it, the others below its keys, where they are nearly answers."""
    if table.origin:
        yield f"# {_comment(table.origin)}"
    below = [one for one in table.questions if one.example and one.key not in table.values]
    yield from (f"# {_comment(one.line)}" for one in table.questions if one not in below)
    yield f"[{header}]"
    wide = [key for key, value in table.values.items() if isinstance(value, Mapping) and len(toml(value)) > _WIDE]
    for key, value in table.values.items():
        note = f"  # {_comment(table.notes[key])}" if key in table.notes else ""
        if key not in wide:
            yield f"{_key(key)} = {toml(value)}{note}"
    yield from (f"# {_comment(one.line)}" for one in below)
    for key in wide:
        yield ""
        yield from _table(f"{header}.{_key(key)}", Table(table.values[key], origin=table.notes.get(key, "")))


def _comment(text: str) -> str:
    return visible(text).replace("\n", " ")


def _key(key: str) -> str:
    if _BARE.fullmatch(key):
        return key
    return tomli_w.dumps({key: 0}).partition(" = ")[0]


def toml(value: Any) -> str:
    """A value in one piece; lists of tables have one on a line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {toml(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        items = [toml(item) for item in value]
        one = f"[{', '.join(items)}]"
        if len(one) > _WIDE and items:
            return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
        return one
    if isinstance(value, Decimal):
        return format(value, "f")
    return tomli_w.dumps({"k": value}).partition(" = ")[2].rstrip("\n")
