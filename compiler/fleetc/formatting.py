"""Formats a spec: the work of `fleetc fmt`.

In: the text of a spec or of an overlay. Out: the same text in its one form, or why it cannot be read. Pure; `cli/`
writes the files. `toml/canonical.py` writes the text; here it is read again and compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from fleetc.language.sharing import CLASSES, DEFAULTS, LIKE, ON, in_the_language
from fleetc.language.spec import json_schema
from fleetc.places.diagnostic import Diagnostic, Path
from fleetc.toml.canonical import canonical
from fleetc.toml.comments import comments_of
from fleetc.toml.document import REMOVE, Source
from fleetc.toml.including import INCLUDE
from fleetc.toml.reader import read

_LAST = 10_000
"""The rank of all other keys: they stay in the order that a person gave them."""


class FormattingError(Exception):
    """The formatted text would not mean the same. That is a bug; the text stays as it is."""


def in_one_form(text: str) -> str:
    """The one form of a text that a program made, which is TOML for certain; nothing is checked again."""
    return canonical(text, _rank)


def formatted(source: Source) -> tuple[str | None, list[Diagnostic]]:
    """The text in its one form; None, and why, where it is not TOML. Raises FormattingError."""
    before, problems = read(source.name, source.text)
    if problems:
        return None, problems
    text = canonical(source.text, _rank)
    after, problems = read(source.name, text)
    if problems or after != before or _comments(text) != _comments(source.text) or canonical(text, _rank) != text:
        raise FormattingError
    return text, []


def _comments(text: str) -> Counter[str]:
    """The lines of all comments, without the space around them."""
    return Counter(line.strip() for comment in comments_of(text) for line in comment.split("\n"))


def _rank(path: Path) -> int:
    """Tables come in the order of the language; in a table, what it must have comes first."""
    return _keys(tuple(map(str, path[:-1]))).get(str(path[-1]), _LAST)


@cache
def _keys(table: tuple[str, ...]) -> Mapping[str, int]:
    """The keys of a table that have a place of their own, by their rank."""
    schema: Mapping[str, Any] = json_schema()
    if not table:
        first = ("spec", INCLUDE, REMOVE, "fleet", "rates", DEFAULTS, CLASSES)
        return {name: rank for rank, name in enumerate(dict.fromkeys((*first, *schema["properties"])))}
    for part in in_the_language(table):
        schema = _inside(schema, str(part))
    needed = dict.fromkeys(name for option in _options(schema) for name in option.get("required", ()))
    return {name: rank for rank, name in enumerate((ON, LIKE, *needed))}


def _inside(schema: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    """What the schema says of a key of a table; {} for a key that it does not have."""
    for option in _options(schema):
        named = option.get("patternProperties", {}).values()  # tables whose keys are names
        for node in (option.get("properties", {}).get(part), *named, option.get("additionalProperties")):
            if isinstance(node, dict):
                return node
    return {}


def _options(schema: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The forms that a value, or an item of a list, may have, references followed."""
    if "$ref" in schema:
        return _options(json_schema()["$defs"][schema["$ref"].rpartition("/")[2]])
    if "items" in schema:
        return _options(schema["items"])
    options = schema.get("anyOf") or schema.get("oneOf")
    return [inner for option in options for inner in _options(option)] if options else [schema]
