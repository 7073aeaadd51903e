"""Makes questions of what a spec would be refused for once its questions are answered.

In: the tables of a fleet. Out: more questions at them. What each question gives as an example stands for its answer, so
that the rules can judge the rest; what they say of such answers is left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from fleetc.adopt.assemble import Assembled
from fleetc.adopt.host_paths import with_folders
from fleetc.adopt.session import Table
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Label, Severity
from fleetc.text import leaks
from fleetc.toml.document import Source

_QUESTION = re.compile(r"TODO ([a-z_]+) = (.*)")
_MOST_NODES = 500
"""Judging thousands of nodes takes as long as reading them."""


def ask_refusals(assembled: Assembled, written: Callable[[Assembled], str]) -> None:
    """Ask about each error that is left when all questions are answered; nothing where an answer has no example."""
    if len(assembled.nodes) > _MOST_NODES:
        return
    said: set[tuple[str, ...]] = set()
    numbers = count(1)
    tables = {
        kind: {name: _answered((kind, name), table, said, numbers) for name, table in members.items()}
        for kind, members in assembled.tables.items()
    }
    fleet = _answered(("fleet",), assembled.fleet, said, numbers)
    checked = check_spec([Source("fleet.toml", written(replace(assembled, fleet=fleet, tables=tables)))])
    for found in checked.diagnostics:
        place = found.primary.place
        if found.severity is not Severity.ERROR or not isinstance(place, tuple) or _about(found.primary, said):
            continue
        if any(_about(label, said) for label in found.related):
            continue
        depth = 1 if place[:1] == ("fleet",) else 2
        table = assembled.fleet if depth == 1 else assembled.tables.get(str(place[0]), {}).get(str(place[1:2][0]))
        key = ".".join(map(str, place[depth:]))
        if table is not None and key and not any(asked.startswith(f"TODO {key}") for asked in table.questions):
            table.ask(leaks.shown(f"TODO {key}: {found.message}; {found.help}"))


def _about(label: Label, said: set[tuple[str, ...]]) -> bool:
    """Whether a label is about something that an example stands for."""
    place = label.place
    return isinstance(place, tuple) and any(tuple(map(str, place[: len(path)])) == path for path in said)


def _answered(path: tuple[str, ...], table: Table, said: set[tuple[str, ...]], numbers: Iterator[int]) -> Table:
    """A table with the example of each question as its answer; `said` gets the paths of those."""
    values = {key: with_folders(value) for key, value in table.values.items()}
    said |= {(*path, key) for key, value in values.items() if value != table.values[key]}
    for question in table.questions:
        found = _QUESTION.match(question)
        example = _example(found[2]) if found is not None else None
        if found is None or example is None or found[1] in values:
            continue
        values[found[1]] = _unlike_others(example, numbers)
        said.add((*path, found[1]))
    return Table(values)


def _example(text: str) -> Any:
    """The TOML value that a question begins with; None where it has none."""
    place = text.find(": ")
    while place >= 0:
        try:
            return tomllib.loads(f"x = {text[:place]}")["x"]
        except tomllib.TOMLDecodeError:
            place = text.find(": ", place + 1)
    return None


def _unlike_others(example: Any, numbers: Iterator[int]) -> Any:
    """An example for one table: what only one may have is another one in each."""
    if example == "0x...":
        return f"0x{next(numbers):040x}"
    if example == "203.0.113.10":
        number = next(numbers)
        return f"host-{number}.example.net"
    if example == "/path/on/the/host":
        return f"{example}/{next(numbers)}"
    return example
