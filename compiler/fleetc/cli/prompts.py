"""Prompts of questions: what is shown at a terminal, and the lines that somebody types. Prompts are on stderr.

In: questions of an adoption. Out: what is typed for them; `EndedError` where somebody ends.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from fleetc.adopt import asking_words
from fleetc.adopt.questions import Kind, Question
from fleetc.cli.output import message, plain

SHORT = 140
_MOST_TABLES = 4


class EndedError(Exception):
    """Somebody ends the questions."""


def name_of(one: Question) -> str:
    """The name of the table of a question."""
    return one.table.partition(".")[2]


def is_askable(one: Question) -> bool:
    from fleetc.adopt.answering import is_field, place_of

    return bool(one.key) and is_field(place_of(one))


def sentence(one: Question, hint: bool = True) -> str:
    """The first words of a question; of one about funds without a `hint`, its command is the same as above."""
    words = one.without_options("").partition(": ")[2] if one.key else one.words
    if one.kind is Kind.FUNDS:
        return asking_words.shown_by(words) if hint else asking_words.same_command(words)
    if one.kind is Kind.CREDENTIAL:
        return words.partition(": ")[0]
    if one.kind is Kind.BALANCE:
        return words.partition(", and ")[0]
    if one.kind is Kind.METRICS:
        return "; ".join(words.split("; ")[:2])
    first, *others = re.split(r"; |: write |(?<=\?) Write ", words)
    short = first if " " in first.removeprefix("the ") or not others else f"{first}; {others[0]}"
    return short if len(short) <= SHORT else f"{short[:SHORT]}..."


def say(one: Question, words: str, group: Sequence[Question] = ()) -> None:
    """Print what is asked, of all of a `group` that it is asked for."""
    from fleetc.text import leaks

    key = f".{one.key}" if is_askable(one) else ""
    named = [f"{other.table}.{other.key}" for other in group[:_MOST_TABLES]] or [f"{one.table}{key}"]
    more = f" and {len(group) - _MOST_TABLES} more" if len(group) > _MOST_TABLES else ""
    message(f"{', '.join(named)}{more}: {leaks.shown(words)}")


def typed_for(looks: str, one: Question, default: str = "", runs: Sequence[str] = (), shown: str = "") -> str:
    """What somebody types; "" for Enter without a default, which is `shown` in other words. `runs` are the nodes of the
    host that it is about. Raises EndedError.
    """
    while True:
        typed = read_line(f"  Enter for {shown or default}, or {looks or 'another'}: " if default else f"  {looks}: ")
        if typed != "?":
            return typed or default
        for line in _more(one, default, runs):
            message(f"  {line}")


def _more(one: Question, default: str, runs: Sequence[str]) -> Iterator[str]:
    """What somebody is told who asks for more: all of the question, what the field is, and what Enter does."""
    from fleetc.adopt.answering import description_at, place_of
    from fleetc.text import leaks

    yield leaks.shown(one.without_options(""))
    meaning = description_at(place_of(one)) if is_askable(one) else ""
    if meaning:
        yield f"{one.key}: {meaning}"
    if runs:
        yield f"no source names the host of {listed(runs)}, so adopting calls it {name_of(one)}"
    yield f"Enter takes {default}" if default else "Enter leaves it open, as a TODO in the spec"


def confirmed(question: str) -> bool:
    return is_yes(read_line(f"  {question} [y/N] "))


def read_line(prompt: str) -> str:
    """A line from the terminal. Raises EndedError at its end, and at Ctrl-C."""
    sys.stderr.write(plain(prompt))
    sys.stderr.flush()
    try:
        line = sys.stdin.buffer.readline()
    except KeyboardInterrupt:
        raise EndedError from None
    if not line:
        raise EndedError
    return line.decode("utf-8", "surrogateescape").strip(" \t\r\n")


def listed(nodes: Sequence[str]) -> str:
    some = [*nodes[:_MOST_TABLES]]
    some += [f"{len(nodes) - _MOST_TABLES} more"] if len(nodes) > _MOST_TABLES else []
    return f"{', '.join(some[:-1])} and {some[-1]}" if len(some) > 1 else some[0]


def is_yes(typed: str) -> bool:
    return typed.lower() in ("y", "yes")
