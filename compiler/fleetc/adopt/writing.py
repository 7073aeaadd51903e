"""Writes the tables of an adopted fleet as a spec, in the form of `fleetc fmt`.

In: `Assembled`. Out: TOML text. Comments say where tables come from, and what is left to answer. `alike.py` says once
what many tables share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import tomli_w

from fleetc.adopt.alike import Shared, shared
from fleetc.adopt.assembled import Assembled
from fleetc.adopt.session import Table, split_question
from fleetc.formatting import in_one_form
from fleetc.language.fleet import NEWEST, NODE_TABLES, Fleet
from fleetc.language.sharing import CLASSES, DEFAULTS
from fleetc.language.spec import read_spec
from fleetc.places.diagnostic import has_errors
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

_BARE = re.compile("[A-Za-z0-9_-]+")
_WIDE = 100
_MANY = ("hosts", "avatars", *NODE_TABLES)
"""Tables of which a fleet has many that are alike."""


def written(assembled: Assembled) -> str:
    """The text of the spec, with what tables share said once, if that is the same spec."""
    kinds = {
        kind: shared(kind, members) if kind in _MANY else Shared(dict(members))
        for kind, members in assembled.tables.items()
    }
    text = _written(assembled, kinds)
    if any(found.classes or found.defaults.values or set(found.tables) != set(assembled.tables[kind])
           for kind, found in kinds.items()) and not _says(text, assembled):  # fmt: skip
        text = _written(assembled, {kind: Shared(dict(members)) for kind, members in assembled.tables.items()})
    return in_one_form(text)


def _says(text: str, assembled: Assembled) -> bool:
    """Whether a spec has exactly these tables, once all that it says once is written out."""
    document, problems = read_spec([Source("fleet.toml", text)])
    if document is None or has_errors(problems):
        return False
    return all(
        document.raw.get(kind, {}) == {name: _plain(member.values) for name, member in members.items()}
        for kind, members in assembled.tables.items()
    )


def _plain(value: Any) -> Any:
    """A value as TOML has it."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _written(assembled: Assembled, kinds: Mapping[str, Shared]) -> str:
    head = [_comment_line(remark) for remark in assembled.head]
    plain = [f"{_key(key)} = {toml(value)}" for key, value in assembled.more.items() if not isinstance(value, Table)]
    lines = [*head, *([""] if head else []), f"spec = {NEWEST}", *plain, "", *_table("fleet", assembled.fleet)]
    for kind in Fleet.model_fields:
        found = kinds.get(kind, Shared({}))
        layers = {f"{CLASSES}.{name}.{kind}": table for name, table in found.classes.items()}
        if found.defaults.values:
            layers[f"{DEFAULTS}.{kind}"] = found.defaults
        for header, table in (layers | {f"{kind}.{_key(name)}": one for name, one in found.tables.items()}).items():
            lines += ["", *_table(header, table)]
    for key, value in assembled.more.items():
        if isinstance(value, Table):
            lines += ["", *_table(_key(key), value)]
    return "\n".join(lines) + "\n"


def _table(header: str, table: Table) -> Iterator[str]:
    for remark in table.above.get("", []):
        yield f"# {_comment(remark)}"
    if table.origin:
        yield f"# {_comment(table.origin)}"
    answerable = {question: line for question in table.questions if (line := _answerable(question, table))}
    yield from (f"# {_comment(question)}" for question in table.questions if question not in answerable)
    yield f"[{header}]"
    wide = [key for key, value in table.values.items() if isinstance(value, Mapping) and len(toml(value)) > _WIDE]
    for key, value in table.values.items():
        note = table.notes.get(key, "")
        if key not in wide:
            yield from (f"# {_comment(remark)}" for remark in table.above.get(key, []))
            yield f"{_key(key)} = {toml(value)}" + (f"  # {_comment(note)}" if note else "")
    yield from (f"# {_comment(line)}" for line in (*answerable.values(), *table.below))
    for key in wide:
        yield ""
        above = {"": table.above.get(key, [])}
        yield from _table(
            f"{header}.{_key(key)}", Table(table.values[key], origin=table.notes.get(key, ""), above=above)
        )


def _answerable(question: str, table: Table) -> str:
    """A question as a line that, without its TODO, is a key with an example of its table; "" for any other question."""
    found = split_question(question)
    if found is None or found.key in table.values:
        return ""
    return f"TODO {found.key} = {found.example}  # {found.words}"


def _comment_line(text: str) -> str:
    """A comment; one for editors, such as #:schema, has no space."""
    return f"#{_comment(text)}" if text.startswith(":") else f"# {_comment(text)}"


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
