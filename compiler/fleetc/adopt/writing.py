"""Writes the tables of an adopted fleet as a spec, in the form of `fleetc fmt`.

In: `Assembled`. Out: TOML text. Comments say where tables come from, and what is left to answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import tomli_w

from fleetc.adopt.assemble import Assembled
from fleetc.adopt.session import Table
from fleetc.formatting import in_one_form
from fleetc.language.fleet import NEWEST, NODE_TABLES, Fleet
from fleetc.language.sharing import DEFAULTS
from fleetc.text.encoders import visible

_BARE = re.compile("[A-Za-z0-9_-]+")
_WIDE = 100
_ALIKE = 3
"""Members with that many values in common share them."""


def written(assembled: Assembled) -> str:
    """The text of the spec."""
    lines = [f"spec = {NEWEST}", "", *_table("fleet", assembled.fleet)]
    for table in Fleet.model_fields:
        members = assembled.tables.get(table, {})
        shared = _shared(members) if table in NODE_TABLES else {}
        if shared:
            lines += ["", *_table(f"{DEFAULTS}.{table}", Table(shared, origin=f"what all {len(members)} have"))]
        for name, member in members.items():
            own = {key: value for key, value in member.values.items() if key not in shared}
            lines += ["", *_table(f"{table}.{name}", replace(member, values=own))]
    return in_one_form("\n".join(lines) + "\n")


def _shared(members: Mapping[str, Table]) -> dict[str, Any]:
    """What all members of a table have in common, if that is worth a table of its own."""
    if len(members) < _ALIKE:
        return {}
    first, *others = (member.values for member in members.values())
    shared = {
        key: value
        for key, value in first.items()
        if key != "host" and all(key in other and other[key] == value for other in others)
    }
    return shared if len(shared) >= _ALIKE else {}


def _table(header: str, table: Table) -> Iterator[str]:
    if table.origin:
        yield f"# {_comment(table.origin)}"
    for question in table.questions:
        yield f"# {_comment(question)}"
    yield f"[{header}]"
    for key, value in table.values.items():
        note = table.notes.get(key, "")
        yield f"{_key(key)} = {toml(value)}" + (f"  # {_comment(note)}" if note else "")


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
