"""A fleet that has every table of the language, for examples in pages and in the reference.

In: `example.toml` beside this file, which checks clean. Out: its text, the part of it that shows one table, and the
first value of a field. Called by `messages/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import tomli

from fleetc import upstream

_HEADER = re.compile(r"\[\[?([^\]]+)\]\]?\s*(?:#.*)?")


@cache
def text() -> str:
    """The whole spec."""
    return upstream.text("example.toml", __file__)


@cache
def _raw() -> dict[str, Any]:
    return tomli.loads(text(), parse_float=Decimal)


def first_at(dotted: str) -> Any:
    """The first value that the fleet gives to a field, by its name with <name> for names; None if it gives none."""
    return next(_values(_raw(), dotted.split(".")), None)


def first_called(name: str) -> Any:
    """The first value of a field with this name in any table; None if there is none."""
    return next(_called(_raw(), name), None)


def _called(node: Any, name: str) -> Iterator[Any]:
    if isinstance(node, dict) and name in node:
        yield node[name]
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _called(inner, name)


def _values(node: Any, parts: list[str]) -> Iterator[Any]:
    if not parts:
        yield node
    elif isinstance(node, list):
        for one in node:
            yield from _values(one, parts)
    elif isinstance(node, dict):
        for key, value in node.items():
            if parts[0] in (key, "<name>"):
                yield from _values(value, parts[1:])


def part_of(dotted: str) -> str:
    """The lines of the first table with this dotted name, and of the tables inside it; "" if it is in a line.

    They end before the next table, and before a comment about that.
    """
    wanted, taken, own = dotted.split("."), list[str](), ""
    for line in text().splitlines():
        header = _HEADER.fullmatch(line)
        if header is not None:
            path = _parts(header[1])
            inside = own and path[: len(_parts(own))] == _parts(own)
            if own and not inside:
                break
            if (
                not own
                and len(path) == len(wanted)
                and all(w in (p, "<name>") for w, p in zip(wanted, path, strict=True))
            ):
                own = header[1]
        if own:
            taken.append(line)
    while taken and (not taken[-1] or taken[-1].startswith("#")):
        taken.pop()
    return "\n".join(taken)


def _parts(header: str) -> list[str]:
    return [part.strip('"') for part in re.findall(r'"[^"]*"|[^.]+', header)]
