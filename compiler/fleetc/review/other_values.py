"""Other values for one place of a spec, to try what depends on it.

In: a document and the key path of one of its values. Out: candidates, the most alike first: the next number, another
name of the same table, another word of the same choice. Whoever tries one checks that the spec is still sound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from difflib import SequenceMatcher
from typing import Any

from fleetc.places.diagnostic import Path, Value
from fleetc.upstream import NETWORKS, PIPELINES, RELEASES, RENDITIONS, format_release

DOUBLINGS = 20
"""How often a number is doubled: to about a million times itself, more than any count of a fleet."""

NAMES = 16
"""How many other names are tried for one: the most alike half of them, and of the rest as many from all over."""

_NUMBER = re.compile("[0-9]+")
_AMOUNT = re.compile("([0-9]+)( ?[A-Za-z]+|%)")


def leaves(raw: Any, path: Path = ()) -> Iterator[Path]:
    """The key paths of all values that are no tables and no arrays, in the order of the document."""
    if isinstance(raw, dict):
        for key, value in raw.items():
            yield from leaves(value, (*path, key))
    elif isinstance(raw, list):
        for index, value in enumerate(raw):
            yield from leaves(value, (*path, index))
    else:
        yield path


def choices(raw: dict[str, Any], value: object, words: tuple[str, ...]) -> tuple[str, ...]:
    """Other words that a value is chosen from, at most NAMES, the most alike first; none for a value made up by people.

    They are those that the field allows (`words`), known names (pipelines, renditions, networks, releases), and the
    names of the table that the value is from.
    """
    if not isinstance(value, str):
        return ()
    vocabularies = (PIPELINES, RENDITIONS, NETWORKS, tuple(map(format_release, RELEASES)))
    tables = [table for table in raw.values() if isinstance(table, dict)]
    candidates = [*words, *(word for known in (*vocabularies, *tables) if value in known for word in known)]
    candidates = [word for word in candidates if word != value]
    alike = sorted(dict.fromkeys(candidates), key=lambda word: (-SequenceMatcher(None, value, word).ratio(), word))
    half = NAMES // 2
    # In a large fleet the names that are most alike are often refused for one reason: hosts of one kind are all taken.
    return (*alike[:half], *alike[half :: max(1, -(-(len(alike) - half) // half))])


def alternatives(value: object) -> Iterator[Value]:
    """Values of the same kind as `value`, none of them equal to it."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, *((value - 1,) if value else ()), value * 2 + 2)
    elif isinstance(value, Decimal):
        yield from (value + Decimal("0.125"), value - Decimal("0.125"))
    elif isinstance(value, str):
        seen = {value}
        for text in _texts(value):
            if text not in seen:
                seen.add(text)
                yield text


def further(value: object) -> Iterator[Value]:
    """Values ever further away from a number, also from one with a unit such as "25%": double, four times, and so on.

    A count of hosts or a share of them changes a fleet in steps, and the nearest value may be on the same step.
    """
    number, unit = value, None
    if isinstance(value, str) and (amount := _AMOUNT.fullmatch(value)):
        number, unit = int(amount[1]), amount[2]
    if isinstance(number, int) and not isinstance(number, bool):
        for power in range(1, DOUBLINGS + 1):
            larger = max(number, 1) << power
            yield larger if unit is None else f"{larger}{unit}"


def _texts(value: str) -> Iterator[str]:
    numbers = list(_NUMBER.finditer(value))
    for number in reversed(numbers):
        yield from _stepped(value, number, 1)
    for number in reversed(numbers):
        yield from _stepped(value, number, -1)
    yield from (f"{value}-b", f"{value}_B", f"{value}/b", f"b{value}", f"{value}.example.net:8935")


def _stepped(value: str, number: re.Match[str], step: int) -> Iterator[str]:
    """The text with one of its numbers made larger or smaller by one, as many digits wide as before."""
    stepped = int(number[0]) + step
    if stepped >= 0:
        yield value[: number.start()] + str(stepped).rjust(len(number[0]), "0") + value[number.end() :]


def words(schema: dict[str, Any], path: Path) -> tuple[str, ...]:
    """The texts that the JSON Schema of a spec lists for the value at a path; () where it lists none."""
    listed = [word for node in nodes(schema, path) for word in (*node.get("enum", ()), node.get("const"))]
    return tuple(dict.fromkeys(word for word in listed if isinstance(word, str)))


def nodes(schema: dict[str, Any], path: Path) -> list[dict[str, Any]]:
    """Each shape that the JSON Schema of a spec has for the value at a path; none where it has no such place."""
    shapes = [schema]
    for part in path:
        shapes = [below for node in shapes for below in _below(schema, node, part)]
    return shapes


def _below(schema: dict[str, Any], node: dict[str, Any], part: str | int) -> Iterator[dict[str, Any]]:
    for form in _forms(schema, node):
        if isinstance(part, int):
            candidates = [form.get("items")]
        else:
            free = [*form.get("patternProperties", {}).values(), form.get("additionalProperties")]
            candidates = [form["properties"][part]] if part in form.get("properties", {}) else free
        for below in candidates:
            if isinstance(below, dict):
                yield from _forms(schema, below)


def _forms(schema: dict[str, Any], node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node with its reference followed, and each of its alternatives."""
    if "$ref" in node:
        yield from _forms(schema, schema["$defs"][node["$ref"].rpartition("/")[2]])
        return
    yield node
    for form in node.get("anyOf", ()):
        yield from _forms(schema, form)
