"""Reads the flags out of the node's Go source and compares them with `node_flags.toml`.

In: Go texts (where flags are registered and where their defaults are set), the table's text and a release. Out: the
differences, a report for people, and the table's text with its rows brought up to date. Pure; `__main__.py` of this
package reads and writes the files. Roles, group and secrecy of a flag are for people to find out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import tomli

from fleetc.upstream import Release, format_release, parse_release
from fleetc.upstream.go_text import Value, arguments, evaluate, string_literal, without_comments

UNSORTED = "unsorted"
"""The group of an unreviewed flag; a test refuses it."""

_TYPES = {
    "String": "string",
    "Bool": "bool",
    "Int": "int",
    "Int64": "int64",
    "Uint": "uint",
    "Uint64": "uint64",
    "Float64": "float",
    "Duration": "duration",
}
_CALL = re.compile(rf"\b\w+\.({'|'.join(_TYPES)})(Var)?\(")
_VARIABLE = re.compile(r"^[ \t]*(\w+)[ \t]*:?=[ \t]*([^\n]+)$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*(\w+)[ \t]*:[ \t]*&(\w+),", re.MULTILINE)
_COLUMNS = (
    *("type", "default", "roles", "group", "since", "secret"),
    *("replaced_by", "deprecated_since", "no_effect_since", "removed"),
    *("impact", "says"),
)


class FlagRegistration(NamedTuple):
    """One flag as the source registers it; `default` is None when its expression is too much for this reader."""

    type: str
    default: Value | None


class Difference(NamedTuple):
    """One difference: `kind` is appeared, vanished, type, default, older or unread; `before` is in the table."""

    kind: str
    flag: str
    before: Value | None
    after: Value | None


def registrations(texts: Iterable[str]) -> dict[str, FlagRegistration]:
    """Every flag that the texts register, by name.

    `x.String("name", default, "usage")` and `x.StringVar(place, "name", default, "usage")` count, for each type. A
    default may be a literal, a product of time units, or `*cfg.Field` where the texts hold `Field: &variable` and
    `variable := ...`.
    """
    sources = [without_comments(text) for text in texts]
    variables = {m[1]: m[2] for text in sources for m in _VARIABLE.finditer(text)}
    fields = {m[1]: m[2] for text in sources for m in _FIELD.finditer(text)}
    found: dict[str, FlagRegistration] = {}
    for text in sources:
        for call in _CALL.finditer(text):
            words = arguments(text, call.end())
            words = words[1:] if call[2] else words
            name = string_literal(words[0]) if len(words) == 3 else None
            if name:
                kind = _TYPES[call[1]]
                found[name] = FlagRegistration(kind, evaluate(kind, _resolved(words[1], variables, fields)))
    return dict(sorted(found.items()))


def _resolved(expression: str, variables: Mapping[str, str], fields: Mapping[str, str]) -> str:
    """The expression behind `*cfg.Field` or a variable; any other stays as it is."""
    pointer = re.fullmatch(r"\*\w+\.(\w+)", expression)
    if pointer:
        expression = fields.get(pointer[1], expression)
    return variables.get(expression, expression)


def compare(found: Mapping[str, FlagRegistration], table_text: str, release: Release) -> list[Difference]:
    """The differences between a source of one release and the table, sorted by kind and flag."""
    rows = tomli.loads(table_text)["flags"]
    differences = [Difference("appeared", name, None, found[name].default) for name in found if name not in rows]
    for name, row in rows.items():
        if name in found:
            differences += _changed(name, row, found[name], release)
        elif parse_release(row["since"]) <= release and not _gone(row, release):
            differences.append(Difference("vanished", name, row["default"], None))
    return sorted(differences, key=lambda d: (d.kind, d.flag))


def _changed(name: str, row: Mapping[str, Any], now: FlagRegistration, release: Release) -> Iterator[Difference]:
    if parse_release(row["since"]) > release:
        yield Difference("older", name, row["since"], format_release(release))
    if row["type"] != now.type:
        yield Difference("type", name, row["type"], now.type)
    if now.default is None:
        yield Difference("unread", name, row["default"], None)
    elif (row["default"], type(row["default"])) != (now.default, type(now.default)):
        yield Difference("default", name, row["default"], now.default)


def _gone(row: Mapping[str, Any], release: Release) -> bool:
    return "removed" in row and parse_release(row["removed"]) <= release


def rewritten(table_text: str, found: Mapping[str, FlagRegistration], release: Release) -> str:
    """The table with new flags and with changed types and defaults. Everything above the rows stays as it is.

    A flag that vanished keeps its row: a file that was forgotten looks the same, so a person writes `removed`.
    """
    rows: dict[str, dict[str, Any]] = tomli.loads(table_text)["flags"]
    for name, now in found.items():
        if name not in rows:
            rows[name] = {"roles": [], "group": UNSORTED, "since": format_release(release), "default": ""}
        rows[name]["type"] = now.type
        if now.default is not None:
            rows[name]["default"] = now.default
    head = _listing(table_text[: table_text.index("\n[flags.")], release)
    return head + "".join(_row(name, rows[name]) for name in sorted(rows))


def _listing(head: str, release: Release) -> str:
    """The part above the rows, with the release as the newest of its list."""
    name = format_release(release)
    listed = re.search(r"^releases = \[\n((?:  .*\n)*)\]", head, re.MULTILINE)
    if listed is None or f'"{name}"' in listed[1]:
        return head
    return f'{head[: listed.end(1)]}  "{name}",\n{head[listed.end(1) :]}'


def with_release(text: str, release: Release) -> str:
    """The table of releases with a section for one: its date and its changes are for people to find out.

    Facts that were public before the release stay, beside the new ones.
    """
    header = f'[releases."{format_release(release)}"]\n'
    if f"{header}partial = true\n" in text:
        return text.replace(f"{header}partial = true\n", f'{header}date = ""\n')
    if header in text:
        return text
    end = text.find("\n# Source: ", text.rfind('\n[releases."')) + 1 or text.find("[[unplaced]]")
    end = len(text) if end < 0 else end
    return f'{text[:end]}{header}date = ""\n\n{text[end:]}'


def _row(name: str, row: Mapping[str, Any]) -> str:
    return f"\n[flags.{name}]\n" + "".join(f"{key} = {_toml(row[key])}\n" for key in _COLUMNS if key in row)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)  # its texts, numbers, booleans and lists are TOML's too


_SENTENCES = {
    "appeared": "appeared, default {after}",
    "vanished": "vanished; if every file was given, write removed",
    "type": "type {before} became {after}",
    "default": "default {before} became {after}",
    "older": "was there in {after} already, not only since {before}",
    "unread": "default cannot be read; compare it with {before}",
}


def report(differences: Iterable[Difference], release: Release) -> str:
    """One line for each difference, and the section that `releases.toml` needs when flags appeared."""
    found = list(differences)
    lines = [
        f"-{d.flag}: " + _SENTENCES[d.kind].format(before=_toml(d.before), after=_toml(d.after)) for d in found
    ] or ["no differences"]
    new = [d.flag for d in found if d.kind == "appeared"]
    if new:
        lines += [
            "",
            f"--write adds {format_release(release)} to both tables of releases. You fill in its date and what else it",
            "changed in releases.toml, and the roles, the group and the impact of each new flag in node_flags.toml.",
        ]
    return "\n".join(lines) + "\n"
