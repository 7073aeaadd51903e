"""Answers that people give beside the sources: values for places of the spec.

In: texts such as wallets.payer.deposit=0.5 ETH. Out: the same tables with these values, and without the questions that
they answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tomli

from fleetc.adopt.found.questions import Question
from fleetc.adopt.tables.assembled import Assembled
from fleetc.adopt.tables.session import Table
from fleetc.text.suggestions import did_you_mean

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
        table.questions = [one for one in table.questions if not _answers(place, one)]
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


def _answers(place: tuple[str, ...], question: Question) -> bool:
    """Whether an answer at a place is one to a question."""
    return question.place[: len(place)] == place[: len(question.place)]
