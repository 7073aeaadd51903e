"""Answers to questions: those that people give beside the sources, and examples in the place of all others.

In: tables with questions, and texts such as wallets.payer.deposit=0.5 ETH. Out: the same tables with these values; and
a fleet to compare before anybody has answered. No spec is written with examples: they would be guesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import tomli

from fleetc.adopt.found.questions import Ask
from fleetc.adopt.tables.session import Assembled, Table, written
from fleetc.language.fleet import Fleet
from fleetc.language.spec import read_fleet, read_spec
from fleetc.places.diagnostic import Diagnostic, Severity
from fleetc.text.suggestions import did_you_mean
from fleetc.toml.document import Source
from fleetc.upstream import NEWEST_RELEASE, format_release

_REFERENCE = re.compile(r"(env|host_file|vault|command) (\S+)")


class WrongAnswerError(ValueError):
    """An answer that cannot be taken; its text is the sentence for people."""


def answer(assembled: Assembled, given: Sequence[str]) -> list[tuple[str, ...]]:
    """Take answers into the tables; their places come back. Raises WrongAnswerError."""
    places = []
    for text in given:
        place, value = _parsed(text)
        table, keys = _table(assembled, place)
        values = table.values
        for key in keys[:-1]:
            values = values.setdefault(key, {})
            if not isinstance(values, dict):
                raise WrongAnswerError(f"{'.'.join(place)}: {key} has no keys of its own")
        values[keys[-1]] = value
        table.notes.pop(keys[0], None)
        table.questions = [
            question for question in table.questions if question.place[: len(place)] != place[: len(question.place)]
        ]
        places.append(place)
    return places


def _parsed(text: str) -> tuple[tuple[str, ...], Any]:
    name, equals, value = text.partition("=")
    place = tuple(part.strip() for part in name.split("."))
    if not equals or len(place) < 2 or not all(place):
        raise WrongAnswerError(f"{text!r} is no TABLE.KEY=VALUE, such as wallets.payer.deposit='0.5 ETH'")
    reference = _REFERENCE.fullmatch(value)
    return place, {reference[1]: reference[2]} if reference else _value(value)


def _value(text: str) -> Any:
    """A value as TOML has it; what is none, or a float or a date, is a text."""
    try:
        value = tomli.loads(f"x = {text}")["x"]
    except tomli.TOMLDecodeError:
        return text
    return value if isinstance(value, bool | int | str | list | dict) else text


def _table(assembled: Assembled, place: tuple[str, ...]) -> tuple[Table, tuple[str, ...]]:
    kind, name, *keys = place
    if kind == "fleet":
        return assembled.fleet, (name, *keys)
    members = assembled.tables.get(kind)
    if members is None:
        raise WrongAnswerError(f"{kind}: {did_you_mean(kind, ['fleet', *assembled.tables])}")
    if name not in members:
        raise WrongAnswerError(f"{kind}.{name}: {did_you_mean(name, list(members))}")
    if not keys:
        raise WrongAnswerError(f"{kind}.{name} is a table: name one of its keys")
    return members[name], tuple(keys)


# ------------------------------------------------------------------------------------------------------------- examples


_STAND_INS: dict[str, Any] = {
    "... wei / pixel": "1200 wei / pixel", "... ETH": "0.5 ETH",
    "node_release": format_release(NEWEST_RELEASE), "network": "offchain",
    "service": "orch.example.net:8935", "image": "registry.example.net/name:tag", "models": [], "slots": 1,
    "orchestrators": ["https://orch.example.net:8935"], "orchestrator": "https://orch.example.net:8935",
}  # fmt: skip
"""Values for blanks, and for keys whose questions have no example."""
_MOST_NODES = 500
"""Judging thousands of nodes takes as long as reading them."""
_MOST_ROUNDS = 3


def exemplary(assembled: Assembled) -> Fleet | None:
    """The fleet with examples, and without keys that the language refuses all the same; None where there is none."""
    if len(assembled.nodes) > _MOST_NODES:
        return None
    numbers = count(1)
    tables = {
        kind: {name: _answered(table, numbers) for name, table in members.items()}
        for kind, members in assembled.tables.items()
    }
    examples = replace(assembled, fleet=_answered(assembled.fleet, numbers), tables=tables)
    for _ in range(_MOST_ROUNDS):
        document, problems = read_spec([Source("fleet.toml", written(examples))])
        fleet, more = read_fleet(document) if document is not None else (None, [])
        if fleet is not None:
            return fleet
        for one in (one for one in (*problems, *more) if one.severity is Severity.ERROR):
            table, keys, _ = _refused(examples, one)
            if table is None or table.values.pop(keys[0], None) is None:
                return None
    return None


def _answered(table: Table, numbers: Iterator[int]) -> Table:
    """A table with an example for each question."""
    values = dict(table.values)
    for question in table.questions:
        example: Any = _STAND_INS.get(question.key)
        if question.example:
            example = _unlike_others(tomli.loads(f"x = {question.example}")["x"], numbers)
        if example is not None and "." not in question.key:
            values.setdefault(question.key, example)
    return Table(values, path=table.path)


def _unlike_others(example: Any, numbers: Iterator[int]) -> Any:
    """An example for one table: what only one may have is another one in each."""
    if not isinstance(example, str):
        return example
    if example in _STAND_INS:
        return _STAND_INS[example]
    if example == "0x...":
        return f"0x{next(numbers):040x}"
    if example == "...":
        return f"host-{next(numbers)}.example.net"
    return f"/example/{next(numbers)}" if example == "/..." else example


def ask_refused(assembled: Assembled, problems: Sequence[Diagnostic], given: Sequence[tuple[str, ...]]) -> bool:
    """Ask about values of the sources that the language or a rule refuses; False where there is none.

    Raises WrongAnswerError for one that is `given`.
    """
    before = len(assembled.questions)
    for one in (one for one in problems if one.severity is Severity.ERROR):
        table, keys, path = _refused(assembled, one)
        if any(path[: len(place)] == place for place in given):
            raise WrongAnswerError(f"{'.'.join(path)}: {one.message}; {one.help}")
        follows = one.code != "invalid-value" and table is not None and table.questions  # maybe from an open question
        if table is not None and not follows and not table.asks(keys[0]):
            table.put(Ask.REFUSED, keys[0], why=one.message)
    return len(assembled.questions) > before


def _refused(assembled: Assembled, error: Diagnostic) -> tuple[Table | None, tuple[str, ...], tuple[str, ...]]:
    """The table with the value that an error is about, the keys of that in it, and its path; no table for no value."""
    path = tuple(map(str, error.primary.place)) if isinstance(error.primary.place, tuple) else ()
    try:
        table, keys = _table(assembled, path)
    except ValueError:
        return None, (), path
    return (table if keys[0] in table.values else None), keys, path
