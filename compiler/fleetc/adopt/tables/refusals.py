"""Makes questions of what a spec would be refused for once its questions are answered.

In: the tables of a fleet. Out: more questions at them, and `Exemplary`: the fleet with the example that each question
gives in place of its answer. With it the rules can judge the rest, and what no answer matters to can be compared before
anybody has answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import tomli

from fleetc.adopt.found.questions import Question
from fleetc.adopt.node.host_paths import EXAMPLE_PATH, with_folders
from fleetc.adopt.report.compare import QUESTION
from fleetc.adopt.tables import asking_words
from fleetc.adopt.tables.assembled import Assembled
from fleetc.adopt.tables.session import Table, split_question
from fleetc.language.fleet import Fleet
from fleetc.language.spec import read_fleet
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Diagnostic, Label, Severity
from fleetc.text import leaks
from fleetc.toml.document import Source

_AMOUNTS = {"... wei / pixel": "1200 wei / pixel", "... USD / hour": "0.72 USD / hour", "... ETH": "0.5 ETH"}
"""What stands for amounts that a question leaves blank. No spec has it: it would be a guess about money."""
_SAME_PORT = "port-used-twice"
_CROWDED = "too-many-warm-containers"
_OF_OFFERS = "gateway-price-admits-nobody"
"""The error about what orchestrators sell, which nobody knows while the list of one cannot be read."""
_MOST_NODES = 500
"""Judging thousands of nodes takes as long as reading them."""


@dataclass(frozen=True)
class Exemplary:
    """The fleet that examples make of a spec with questions; `asked` are the places of these."""

    fleet: Fleet
    asked: frozenset[tuple[str, ...]]


def ask_refusals(assembled: Assembled, written: Callable[[Assembled], str]) -> Exemplary | None:
    """Ask about each error that is left when all questions are answered; nothing where an answer has no example.

    Gives the fleet with the examples, if its values are sound without those of them that are refused.
    """
    if len(assembled.nodes) > _MOST_NODES:
        return None
    said: set[tuple[str, ...]] = set()
    numbers = count(1)
    tables = {
        kind: {name: _answered((kind, name), table, said, numbers) for name, table in members.items()}
        for kind, members in assembled.tables.items()
    }
    fleet = _answered(("fleet",), assembled.fleet, said, numbers)
    exemplary = replace(assembled, fleet=fleet, tables=tables)
    checked = check_spec([Source("fleet.toml", written(exemplary))])
    errors = [found for found in checked.diagnostics if found.severity is Severity.ERROR]
    refused = [found for found in errors if not any(_about(one, said) for one in (found.primary, *found.related))]
    if _is_list_unread(assembled):
        refused = [found for found in refused if found.code != _OF_OFFERS]
    for found in refused:
        _ask(assembled, found)
        said |= _asked(found) | _room(assembled, found)
    if sound(checked) is None and _without(exemplary, errors, said):
        checked = check_spec([Source("fleet.toml", written(exemplary))])
    found_fleet = sound(checked)
    return Exemplary(found_fleet, frozenset(said)) if found_fleet is not None else None


def _is_list_unread(assembled: Assembled) -> bool:
    """Whether the list of models of an orchestrator is missing or has to be repaired: nobody knows what it sells."""
    orchestrators = assembled.tables.get("orchestrators", {}).values()
    asked = [
        one.removeprefix("TODO models: ")
        for table in orchestrators
        for one in table.questions
        if isinstance(one, str) and "models: " in one
    ]
    return any(one.startswith(asking_words.REPAIR) or asking_words.NO_SOURCE in one for one in asked)


def sound(checked: Checked) -> Fleet | None:
    """The fleet of a spec whose values are sound, even where rules refuse it: what its nodes would get can be said."""
    if checked.fleet is not None or checked.document is None:
        return checked.fleet
    return read_fleet(checked.document)[0]


def _ask(assembled: Assembled, found: Diagnostic) -> None:
    """Ask for what an error is about, at its table."""
    table, key = _table_of(assembled, found.primary.place)
    if table is not None and key and not any(_line(asked).startswith(f"TODO {key}") for asked in table.questions):
        table.ask(leaks.shown(f"TODO {key}: {found.message}; {found.help}"))
        if not isinstance(found.primary.place, tuple):
            return
        kind, name = map(str, found.primary.place[:2])
        assembled.refused.add((kind if table is assembled.fleet else f"{kind}.{name}", key))
        if found.code == _SAME_PORT:
            places = (one.place for one in found.related if isinstance(one.place, tuple) and len(one.place) > 1)
            others = tuple(other for place in places if (other := str(place[1])) != name)
            assembled.sharing[f"{kind}.{name}", key] = others


def _line(one: str | Question) -> str:
    return one.line if isinstance(one, Question) else one


def _room(assembled: Assembled, found: Diagnostic) -> set[tuple[str, ...]]:
    """The place whose answer gives a node room for its warm containers, where an error is about that; else none."""
    if found.code != _CROWDED or not isinstance(found.primary.place, tuple):
        return set()
    kind, name = map(str, found.primary.place[:2])
    for one in assembled.nodes:
        if (one.table, one.name) == (kind, name):
            one.reasons.setdefault("aiRunnerContainersPerGPU", f"{QUESTION}: room for its warm containers")
    return {(kind, name, "containers_per_gpu")}


def _table_of(assembled: Assembled, place: object) -> tuple[Table | None, str]:
    """The table of a place in the spec, and the key in it."""
    if not isinstance(place, tuple) or not place:
        return None, ""
    if place[0] == "fleet":
        return assembled.fleet, ".".join(map(str, place[1:]))
    name = str(place[1]) if len(place) > 1 else ""
    return assembled.tables.get(str(place[0]), {}).get(name), ".".join(map(str, place[2:]))


def _without(exemplary: Assembled, errors: list[Diagnostic], said: set[tuple[str, ...]]) -> bool:
    """Leave out each key that an error is about; `said` gets their places. False where there is none to leave out."""
    for found in errors:
        table, key = _table_of(exemplary, found.primary.place)
        first = key.partition(".")[0]
        if table is None or not first:
            return False
        table.values.pop(first, None)
        said |= _asked(found)
    return bool(errors)


def _asked(found: Diagnostic) -> set[tuple[str, ...]]:
    """The place of the key that an error is about; none where it is about a whole table."""
    place = found.primary.place
    if not isinstance(place, tuple) or not place:
        return set()
    depth = 2 if place[0] == "fleet" else 3
    return {tuple(map(str, place[:depth]))} if len(place) >= depth else set()


def _about(label: Label, said: set[tuple[str, ...]]) -> bool:
    """Whether a label is about something that an example stands for."""
    place = label.place
    return isinstance(place, tuple) and any(tuple(map(str, place[: len(path)])) == path for path in said)


def _answered(path: tuple[str, ...], table: Table, said: set[tuple[str, ...]], numbers: Iterator[int]) -> Table:
    """A table with the example of each question as its answer; `said` gets the paths of those."""
    values = {key: with_folders(value) for key, value in table.values.items()}
    said |= {(*path, key) for key, value in values.items() if value != table.values[key]}
    for question in table.questions:
        found = question if isinstance(question, Question) else split_question(question)
        if found is None or not found.example or found.key in values:
            continue
        values[found.key] = _unlike_others(tomli.loads(f"x = {found.example}")["x"], numbers)
        said.add((*path, found.key))
    return Table(values)


def _unlike_others(example: Any, numbers: Iterator[int]) -> Any:
    """An example for one table: what only one may have is another one in each."""
    if isinstance(example, str) and example in _AMOUNTS:
        return _AMOUNTS[example]
    if example == "0x...":
        return f"0x{next(numbers):040x}"
    if example == "203.0.113.10":
        number = next(numbers)
        return f"host-{number}.example.net"
    if example == EXAMPLE_PATH:
        return f"{example}/{next(numbers)}"
    return example
