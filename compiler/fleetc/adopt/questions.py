"""Reads what the spec of an adoption asks.

In: the text of a spec, with its `TODO` lines. Out: `Question`s, which `glance.py` lists, and the options that answer
some of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import tomli

from fleetc.adopt import asking_words
from fleetc.adopt.host_paths import ANSWERS

_HEADER = re.compile(r"\[([^\[\]]+)\]$")
_LINE = re.compile(r"# TODO (?:(~|[A-Za-z_][^\s:=]*)(: | = ))?(.*)")
_AGAIN = re.compile(
    rf"(?:,? or|,)? adopt again with {re.escape(ANSWERS)}((?: --(?:host|home|directory) [A-Za-z0-9_./@=-]+)+)"
)
"""Where a question names the options that answer it; nothing else of a source gets into a command to paste."""


class Kind(Enum):
    """What a question is about, as far as it is asked or shown in a way of its own."""

    HOSTS = auto()
    """Which host nodes run on: options answer it."""
    FOLDER = auto()
    """Where a home or a folder is: an option answers it."""
    ADDRESS = auto()
    """Where people log in to a host."""
    LISTENER = auto()
    """Where the administration of a node listens."""
    FUNDS = auto()
    """What a wallet has set aside; its words have the command that shows it."""
    BALANCE = auto()
    """What an account keeps for gas."""
    METRICS = auto()
    """Who reads the metrics of the fleet."""
    ALERTS = auto()
    """Where alerts go."""
    CREDENTIAL = auto()
    """A credential of a runner that a spec does not have."""
    CROWDED = auto()
    """More warm containers than a node has room for: a yes gives it room."""
    SOURCE = auto()
    """Which source is meant, or has to be repaired or named: at most a yes to the value that stands answers it."""
    VARIABLE = auto()
    """What a path begins with that a script says, and that another file may set."""
    RPC = auto()
    """The RPC address that all nodes of the fleet, or of a host, get."""
    UNREAD = auto()
    """A value that a source says where the node does not read it: its example is that value."""
    VALUE = auto()
    """Any other value."""


_KINDS = {
    ("fleet", "rpc"): Kind.RPC,
    ("hosts", "rpc"): Kind.RPC,
    ("hosts", "address"): Kind.ADDRESS,
    ("wallets", "minimum_balance"): Kind.BALANCE,
    ("monitoring", "host"): Kind.METRICS,
    ("monitoring", "alertmanagers"): Kind.ALERTS,
}
"""Kinds by table and key."""


@dataclass(frozen=True)
class Question:
    """A `TODO` line: its number, the table as its header has it, the key, an example of its value as TOML, and words.

    `example` is "" where the key has a value already, or only people can tell how one looks. `options` are those that
    answer it when people adopt again, each with an example of its value.
    """

    line: int
    table: str
    key: str
    example: str
    words: str
    options: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """What it is about."""
        if self.options:
            return Kind.HOSTS if self.options[0].startswith("--host ") else Kind.FOLDER
        if self.key == "cli":
            return Kind.LISTENER
        if self.key == "models" and self.words.startswith(asking_words.CREDENTIAL):
            return Kind.CREDENTIAL
        if self.key == "models" and asking_words.room_in(self.words)[0]:
            return Kind.CROWDED
        if self.words.startswith(asking_words.REPAIR) or any(
            words in self.words for words in (asking_words.BY_NAME, asking_words.NO_SOURCE)
        ):
            return Kind.SOURCE
        if self.example and asking_words.variable_of(self.words):
            return Kind.VARIABLE
        if self.example and asking_words.UNREAD in self.words:
            return Kind.UNREAD
        if self.key in ("deposit", "reserve") and asking_words.command_of(self.words):
            return Kind.FUNDS
        return _KINDS.get((self.table.partition(".")[0], self.key), Kind.VALUE)

    @property
    def said(self) -> str:
        """All of it in one piece."""
        example = f" = {self.example}" if self.example else ""
        return f"{self.key}{example}: {self.words}" if self.key else self.words

    def without_options(self, instead: str) -> str:
        """The same, with something `instead` of the options that answer it."""
        return _AGAIN.sub(instead, self.said)


def questions_in(text: str) -> Iterator[Question]:
    """Each question of a spec. Lines above a header are about its table."""
    lines = text.split("\n")
    table = ""
    for number, line in enumerate(lines, 1):
        header = _HEADER.match(line)
        table = header[1] if header is not None else table
        found = _LINE.match(line)
        if found is None:
            continue
        below = next((one for one in lines[number:] if not one.startswith("#")), "")
        above = _HEADER.match(below)
        of = above[1] if above is not None else table
        key, example, words = found[1] or "", "", found[3]
        if found[2] == " = ":
            example, words = _example(words)
        yield Question(number, of, key, example, words, tuple(_options(words)))


def _example(text: str) -> tuple[str, str]:
    """The example at the beginning of a text, and the words behind it."""
    place = text.find("  # ")
    while place >= 0:
        try:
            tomli.loads(f"x = {text[:place]}")
        except tomli.TOMLDecodeError:
            place = text.find("  # ", place + 1)
        else:
            return text[:place], text[place + 4 :]
    return text, ""


def _options(words: str) -> Iterator[str]:
    for found in _AGAIN.finditer(words):
        yield from (f"--{option.removeprefix('--')}" for option in found[1].strip().split(" --"))


def options_of(questions: Iterable[Question]) -> str:
    """The options with which adopting again answers questions, in the words of a command; "" where none does."""
    return " ".join(dict.fromkeys(option for one in questions for option in one.options))


def path_of(dotted: str) -> tuple[str, ...]:
    """The parts of a dotted name, as TOML reads it; () where it is none."""
    try:
        table: Any = tomli.loads(f"[{dotted}]")
    except tomli.TOMLDecodeError:
        return ()
    parts = []
    while isinstance(table, dict) and table:
        key, table = next(iter(table.items()))
        parts.append(key)
    return tuple(parts)
