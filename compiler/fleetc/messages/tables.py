"""The tables of the spec language and their fields, with what a reader wants to know of each.

In: the JSON Schema of a spec, and the example fleet beside the language. Out: `tables()`, and the table or field that
a dotted name means (`find`). The reference and the pages of `fleetc explain` are both written from these values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from fleetc.language.example import first_at, first_called, part_of
from fleetc.language.fields import NAME_PATTERN
from fleetc.language.secret_fields import SecretRef
from fleetc.language.spec import json_schema
from fleetc.language.units import UNIT
from fleetc.messages.topics import grouped
from fleetc.toml.edits import toml_key
from fleetc.toml.scan import parse_key

NAME = "<name>"
_IS_NAME = re.compile(NAME_PATTERN)
_PLURALS = {
    "text": "texts",
    "name": "names",
    "table": "tables",
    "whole number": "whole numbers",
    "number": "numbers",
}
_BY_DEFAULT = re.compile(r"\b[Bb]y default (.+?)(?:[;.](?:\s|$)|$)")
_LONGEST = 90
"""An example with more characters than this shows only that there is more."""


class Field(NamedTuple):
    """One key of a table. `kind`, `unit` and `default` are words; `target` is the definition of the table it holds.

    `shape` says how: "table", "map" (tables by name), "list" (of tables), or "" for a plain value. `example` is a line
    of TOML; for a table, the header that begins it.
    """

    name: str
    kind: str
    default: str
    sentence: str
    unit: str = ""
    example: str = ""
    target: str = ""
    shape: str = ""

    @property
    def default_words(self) -> str:
        """The default, or the sentence's words if it depends on other fields."""
        match = _BY_DEFAULT.search(self.sentence) if self.default == "none" else None
        return match[1] if match else self.default

    @property
    def required(self) -> bool:
        """Whether the table is an error without it."""
        return self.default == "required"


class Table(NamedTuple):
    """One table of a spec: its dotted name, the header that begins it, its sentence and its fields.

    `groups` has the fields again, by topic, required ones first.
    """

    name: str
    header: str
    sentence: str
    fields: tuple[Field, ...]
    groups: tuple[tuple[str, tuple[Field, ...]], ...]


def plain_name(dotted: str) -> str:
    """A dotted name without the names that users choose: "gateways.max_price"."""
    return dotted.replace(f".{NAME}", "")


# ------------------------------------------------------------------------------------------------- from the schema


def definition(name: str) -> Mapping[str, Any]:
    """A definition of the schema; "" is the spec itself."""
    node: Mapping[str, Any] = json_schema()["$defs"][name] if name else json_schema()
    return node


@cache
def fields_of(defined: str, table: str) -> dict[str, Field]:
    """The fields of a definition by name, in the order of the model. `table` is where a spec has it."""
    schema = definition(defined)
    required = schema.get("required", ())
    return {name: field_of_node(name, node, name in required, table) for name, node in schema["properties"].items()}


def field_of_node(name: str, node: Mapping[str, Any], required: bool, table: str) -> Field:
    """A field from its node of a schema."""
    shape, target = "", ""
    for part in (node, *_choices(node)):
        for kind, inner in (("table", part), ("map", _values(part)), ("list", part.get("items"))):
            if isinstance(inner, dict) and "$ref" in inner:
                shape, target = kind, inner["$ref"].rsplit("/", 1)[-1]
    default = "required" if required else _default(node.get("default", ()))
    sentence = node.get("description") or (definition(target).get("description", "") if target else "")
    example = _example(name, node, f"{table}.{name}".lstrip("."), shape)
    return Field(name, _kind(node), default, sentence, _unit(node), example, target, shape)


def _choices(node: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The shapes that a value may have; none for a value with one shape."""
    choices: Sequence[Mapping[str, Any]] = node.get("anyOf") or node.get("oneOf") or ()
    return choices


def _values(node: Mapping[str, Any]) -> Any:
    """What a table with free keys holds; None for any other value."""
    return next(iter(node.get("patternProperties", {}).values()), node.get("additionalProperties"))


def _parts(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A node, the shapes that it may have, and what they hold."""
    yield node
    for part in (*_choices(node), _values(node), node.get("items")):
        if isinstance(part, dict):
            yield from _parts(part)


def _unit(node: Mapping[str, Any]) -> str:
    return next((part[UNIT] for part in _parts(node) if UNIT in part), "")


def _default(value: Any) -> str:
    if value is None:
        return "none"
    return f"`{json.dumps(value)}`" if value or value is False or value == 0 else "empty"


# ---------------------------------------------------------------------------------------------------------- kinds


def _kind(node: Mapping[str, Any]) -> str:
    """What a value may be, in words."""
    if "$ref" in node:
        return "table"
    if _choices(node):
        return " or ".join(dict.fromkeys(_kind(part) for part in _choices(node) if part.get("type") != "null"))
    if "const" in node or "enum" in node:
        words = [json.dumps(word) for word in node.get("enum", [node.get("const")])]
        return " or ".join(f"`{word}`" for word in words)
    kind = node.get("type", "text")
    if isinstance(kind, list):
        return " or ".join(_kind({"type": part}) for part in kind)
    if kind == "array":
        return f"list of {_plural(_kind(node['items']))}"
    return _object(node) if kind == "object" else _plain(kind, node)


def _plain(kind: str, node: Mapping[str, Any]) -> str:
    if kind == "boolean":
        return "true or false"
    if kind == "number":
        low, high = node.get("minimum"), node.get("maximum")
        return "number" if low is None else f"number from {low} to {high}"
    if kind == "integer":
        low, high = node.get("minimum"), node.get("maximum")
        if low is None:
            return "whole number"
        return f"whole number from {low}" + (f" to {high}" if high is not None else "")
    if node.get("format") == "date":
        return "day"
    if len(node.get("examples", ())) > 1:
        return "text such as " + " or ".join(f"`{json.dumps(example)}`" for example in node["examples"])
    if "maxLength" in node:
        return "name" if "pattern" in node else f"text of {node['minLength']} to {node['maxLength']} characters"
    return "text of the form `25%`" if "%" in node.get("pattern", "") else "text"


def _object(node: Mapping[str, Any]) -> str:
    if isinstance(_values(node), dict):
        return f"table by name: {_kind(_values(node))}"
    keys = list(node.get("properties", ()))
    if not keys:
        return "table with any keys"
    return "secret reference" if set(keys) <= set(SecretRef.model_fields) else f"`{{ {', '.join(keys)} = ... }}`"


def _plural(kind: str) -> str:
    if " or " in kind and "such as" not in kind:
        return " or ".join(map(_plural, kind.split(" or ")))
    for single, many in _PLURALS.items():
        if kind == single or kind.startswith((f"{single} ", f"{single},")):
            return many + kind[len(single) :]
    return kind


# ------------------------------------------------------------------------------------------------------- examples


def _example(name: str, node: Mapping[str, Any], dotted: str, shape: str) -> str:
    """An example line of the field: from the example fleet, else the language, else another table."""
    value = first_at(dotted)
    if shape:
        return _nested(name, dotted, shape, value)
    if value is None:
        value = _any_value(node)
    if value is None:
        value = first_called(name)
    return "" if value is None else f"{toml_key(name)} = {inline(value)}"


def _nested(name: str, dotted: str, shape: str, value: Any) -> str:
    """A table inside another one in one line, if that is short; else its header."""
    in_line = "." in dotted and shape != "map" and value
    line = f"{name} = {inline(value[:1] if shape == 'list' else value)}" if in_line else ""
    if line and len(line) <= _LONGEST:
        return line
    inner = dotted + (f".{NAME}" if shape == "map" else "")
    return f"[[{inner}]]" if shape == "list" else f"[{inner}]"


def _any_value(node: Mapping[str, Any]) -> Any:
    """A value that a node of the schema allows; None if it is too short."""
    for part in _parts(node):
        if "examples" in part:
            value = part["examples"][0]
            value = date.fromisoformat(value) if part.get("format") == "date" else value
            return value if part in (node, *_choices(node)) else _held(node, value)
    if node.get("default") not in (None, [], {}) and not isinstance(node["default"], bool):
        return node["default"]
    for part in (node, *_choices(node)):
        words = part.get("enum") or ([part["const"]] if "const" in part else [])
        if words:
            return words[0]
        if part.get("type") == "boolean":
            return not node.get("default", False)
        if _kind(part) == "secret reference":
            return {"env": "NAME_OF_A_VARIABLE"}
    return None


def _held(node: Mapping[str, Any], value: Any) -> Any:
    """A list or a table that holds a value, as a node of the schema asks for."""
    for part in (node, *_choices(node)):
        if part.get("type") == "array":
            return [value]
        if isinstance(_values(part), dict):
            return {"gw-eu": value}
    return value


def inline(value: Any) -> str:
    """A value as TOML in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(key)} = {inline(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return str(value) if isinstance(value, Decimal | date) else json.dumps(value, ensure_ascii=False)


# ------------------------------------------------------------------------------------------------------ all at once


@cache
def tables() -> tuple[Table, ...]:
    """Every table of a spec, each before the tables inside it; the spec itself has the name ""."""
    return tuple(_tables("", "", "", "Keys before the first table, and the tables themselves."))


def _tables(defined: str, name: str, header: str, sentence: str) -> Iterator[Table]:
    fields = fields_of(defined, name)
    yield Table(name, header, sentence, tuple(fields.values()), _groups(name, fields))
    for field in fields.values():
        if field.target:
            inner = f"{name}.{field.name}".lstrip(".") + (f".{NAME}" if field.shape == "map" else "")
            brackets = f"[[{inner}]]" if field.shape == "list" else f"[{inner}]"
            yield from _tables(field.target, inner, brackets, definition(field.target).get("description", ""))


def _groups(table: str, fields: Mapping[str, Field]) -> tuple[tuple[str, tuple[Field, ...]], ...]:
    required = tuple(field for field in fields.values() if field.required)
    others = tuple(name for name, field in fields.items() if not field.required)
    topics = [(title, tuple(fields[name] for name in names)) for title, names in grouped(table, others)]
    return (("Required", required), *topics) if required else tuple(topics)


# -------------------------------------------------------------------------------------------------------------- one


def names() -> list[str]:
    """The dotted name of every field, without names of the user's: "gateways.max_price"."""
    return [f"{plain_name(table.name)}.{field.name}".lstrip(".") for table in tables() for field in table.fields]


def whole_example(table: Table) -> str:
    """The lines of a table in the example fleet; one line if it is inside another table; "" for the spec."""
    if not table.name:
        return ""
    value = first_at(table.name)
    last = plain_name(table.name).rpartition(".")[2]
    return part_of(table.name) or ("" if value is None else f"{last} = {inline(value)}")


def table_called(dotted: str) -> Table | None:
    """The table with this dotted name, which says <name> for names."""
    return next((table for table in tables() if table.name == dotted), None)


def find(name: str) -> tuple[str, Field] | None:
    """A field or table by its dotted name, which may hold names and places in lists; None if the language has none.

    The first value is its name with <name> for names. What is below a known table but no field of it is never found,
    except where names lead to a field: "gateways.gw-eu.max_price" is one, "gateways.gw-eu" is not.
    """
    parts = [str(part) for part in parse_key(plain_name(name)) or ()]
    return _resolve("", parts, "") if parts else None


def _resolve(defined: str, parts: Sequence[str], before: str) -> tuple[str, Field] | None:
    """Follow the parts into a definition: a field, else a name or place in a list and then a field."""
    field = fields_of(defined, before).get(parts[0])
    if field is None:
        return None
    rest = parts[1:]
    title = f"{before}.{field.name}".lstrip(".") + (f".{NAME}" if field.shape == "map" else "")
    if not field.target:
        leads_in = len(rest) == 1 and field.kind.startswith("table by name")
        return (title, field) if not rest or leads_in else None
    if not rest:
        return title, field
    below = _resolve(field.target, rest, title)
    if below is None and len(rest) > 1 and is_entry(field, rest[0]):
        below = _resolve(field.target, rest[1:], title)
    return below


def is_entry(field: Field, part: str) -> bool:
    """Whether a part of a path can be the name of a table, or its place in a list, below a field."""
    return _IS_NAME.fullmatch(part) is not None if field.shape == "map" else field.shape == "list" and part.isdigit()
