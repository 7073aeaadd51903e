"""The reference of the spec language: every table and field, and every diagnostic code with its page.

In: the JSON Schemas of a spec and of an answered stream, and the pages of `explain.py`. Out: Markdown for
`compiler/REFERENCE.md` (`markdown`), and the text about one field or table, also about a field that only the stream
API sets (`lookup`). Called by `cli/`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from fleetc.language.fields import NAME_PATTERN, SecretRef
from fleetc.language.spec import json_schema
from fleetc.messages.explain import pages
from fleetc.messages.pages import PAGES
from fleetc.stream_api import resource
from fleetc.toml.scan import parse_key
from fleetc.upstream.signatures import signatures
from fleetc.upstream.stream_api import SERVER_OWNED

_NAME = "<name>"
_IS_NAME = re.compile(NAME_PATTERN)
_PLURALS = {
    "text": "texts",
    "name": "names",
    "table": "tables",
    "whole number": "whole numbers",
    "number": "numbers",
}


class Field(NamedTuple):
    """One key of a table. `kind` and `default` are words; `target` is the definition of the table it holds, if any.

    `shape` says how: "table", "map" (tables by name), "list" (of tables), or "" for a plain value.
    """

    name: str
    kind: str
    default: str
    sentence: str
    target: str = ""
    shape: str = ""


class Table(NamedTuple):
    """One table of a spec: its dotted name, the header that begins it, its sentence and its fields."""

    name: str
    header: str
    sentence: str
    fields: tuple[Field, ...]


def _definition(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json_schema()["$defs"][name] if name else json_schema()
    return found


@cache
def _fields(definition: str) -> dict[str, Field]:
    """The fields of a definition by name, in the order of the model. "" is the spec itself."""
    found = _definition(definition)
    required = found.get("required", ())
    return {name: _field(name, node, name in required) for name, node in found["properties"].items()}


def _field(name: str, node: Mapping[str, Any], required: bool) -> Field:
    shape, target = "", ""
    for part in (node, *_choices(node)):
        for kind, inner in (("table", part), ("map", _values(part)), ("list", part.get("items"))):
            if isinstance(inner, dict) and "$ref" in inner:
                shape, target = kind, inner["$ref"].rsplit("/", 1)[-1]
    default = "required" if required else _default(node.get("default", ()))
    sentence = node.get("description") or (_definition(target).get("description", "") if target else "")
    return Field(name, _kind(node), default, sentence, target, shape)


def _choices(node: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The shapes that a value may have; none for a value with one shape."""
    choices: Sequence[Mapping[str, Any]] = node.get("anyOf") or node.get("oneOf") or ()
    return choices


def _values(node: Mapping[str, Any]) -> Any:
    """What a table with free keys holds; None for any other value."""
    return next(iter(node.get("patternProperties", {}).values()), node.get("additionalProperties"))


def _default(value: Any) -> str:
    if value is None:
        return "none"
    return f"`{json.dumps(value)}`" if value or value is False or value == 0 else "empty"


def _kind(node: Mapping[str, Any]) -> str:
    """What a value may be, in words."""
    if "$ref" in node:
        return "table"
    if _choices(node):
        return " or ".join(_kind(part) for part in _choices(node) if part.get("type") != "null")
    if "const" in node or "enum" in node:
        words = [json.dumps(word) for word in node.get("enum", [node.get("const")])]
        return " or ".join(f"`{word}`" for word in words)
    kind = node.get("type", "text")
    if isinstance(kind, list):
        return " or ".join(_kind({"type": one}) for one in kind)
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
    if "examples" in node:
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
    for one, many in _PLURALS.items():
        if kind == one or kind.startswith((f"{one} ", f"{one},")):
            return many + kind[len(one) :]
    return kind


# ---------------------------------------------------------------------------------------------------- all at once


def tables() -> tuple[Table, ...]:
    """Every table of a spec, each before the tables inside it; the spec itself has the name ""."""
    return tuple(_tables("", "", "", "Keys before the first table, and the tables themselves."))


def _tables(definition: str, name: str, header: str, sentence: str) -> Iterator[Table]:
    fields = _fields(definition)
    yield Table(name, header, sentence, tuple(fields.values()))
    for field in fields.values():
        if field.target:
            inner = f"{name}.{field.name}".lstrip(".") + (f".{_NAME}" if field.shape == "map" else "")
            brackets = f"[[{inner}]]" if field.shape == "list" else f"[{inner}]"
            yield from _tables(field.target, inner, brackets, _definition(field.target).get("description", ""))


def markdown() -> str:
    """The whole reference as a Markdown page: fields by table, then codes with their pages."""
    parts = [
        "# Reference of the spec language",
        "`fleetc explain --all` generates this page from the model and the rules; `fleetc explain gateways.max_price`\n"
        "and `fleetc explain unknown-key` print a single entry.",
        "## Tables",
        f"`{_NAME}` stands for a name that you choose. `none` is the default of an optional field: its\n"
        "sentence, or the node, says what then applies.",
    ]
    for table in tables():
        parts += [f"### {_code(table.header) if table.header else 'The spec'}", table.sentence, _rows(table.fields)]
    secret = [f"- `{name}`: {field.description}" for name, field in SecretRef.model_fields.items()]
    parts += ["### Secret references", " ".join((SecretRef.__doc__ or "").split()), "\n".join(secret), "## Codes"]
    known = pages()
    parts.append("\n".join(f"- [{code}](#{code}): {_cell(page.splitlines()[0])}" for code, page in known.items()))
    for code, page in known.items():
        parts += [f"### {code}", _dedented(page) if code in PAGES or code in signatures() else page.strip()]
    return "\n\n".join(parts) + "\n"


def _dedented(page: str) -> str:
    """A page whose indented parts are sentences, and no examples."""
    return "\n".join(line.strip() for line in page.strip().splitlines())


def _rows(fields: Sequence[Field]) -> str:
    rows = [f"| `{f.name}` | {_cell(f.kind)} | {_cell(f.default)} | {_cell(f.sentence)} |" for f in fields]
    return "\n".join(["| Key | Type | Default | Meaning |", "|---|---|---|---|", *rows])


def _code(text: str) -> str:
    return f"`{text}`"


def _cell(text: str) -> str:
    """Text for a table cell or a list: no column ends early, and `<` begins no HTML outside of code."""
    pieces = text.replace("|", "\\|").split("`")
    return "`".join(piece if place % 2 else piece.replace("<", "&lt;") for place, piece in enumerate(pieces))


# ---------------------------------------------------------------------------------------------------------- one


def names() -> list[str]:
    """The dotted name of every field, without names of the user's: "gateways.max_price"."""
    found = []
    for table in tables():
        prefix = table.name.replace(f".{_NAME}", "")
        found += [f"{prefix}.{field.name}".lstrip(".") for field in table.fields]
    return found


def lookup(name: str) -> str | None:
    """The text about a field or table by its dotted name, which may hold names and places in lists; None if unknown."""
    parts = [str(part) for part in parse_key(name) or ()]
    if parts[:1] == ["streams"] and len(parts) in (2, 3) and parts[-1] in SERVER_OWNED:
        return _assigned(parts[-1])
    found = _resolve("", parts, "") if parts else None
    if found is None:
        return None
    title, field = found
    text = f"{title}\n\n{field.sentence}\n\nType: {field.kind}\nDefault: {field.default}\n"
    if field.target:
        lines = [f"  {inner.name}: {inner.sentence}" for inner in _fields(field.target).values()]
        text += "\n" + "\n".join([_definition(field.target).get("description", ""), "", *lines]) + "\n"
    return text


def _assigned(key: str) -> str:
    """The text about a field of a stream that the service alone sets."""
    field = _field(key, resource.json_schema()["properties"][key], required=False)
    advice = f"Set by the service; where a spec has it, {SERVER_OWNED[key]}"
    return f"streams.{_NAME}.{key}\n\n{field.sentence}\n\nType: {field.kind}\n{advice}.\n"


def _resolve(definition: str, parts: Sequence[str], before: str) -> tuple[str, Field] | None:
    """Follow the parts into a definition: a field, else a name or place in a list and then a field."""
    field = _fields(definition).get(parts[0])
    if field is None:
        return None
    rest = parts[1:]
    title = f"{before}.{field.name}".lstrip(".") + (f".{_NAME}" if field.shape == "map" else "")
    if not field.target:
        leads_in = len(rest) == 1 and field.kind.startswith("table by name")
        return (title, field) if not rest or leads_in else None
    if not rest:
        return title, field
    found = _resolve(field.target, rest, title)
    named = _IS_NAME.fullmatch(rest[0]) if field.shape == "map" else field.shape == "list" and rest[0].isdigit()
    if found is None and named:
        found = _resolve(field.target, rest[1:], title) if rest[1:] else (title, field)
    return found
