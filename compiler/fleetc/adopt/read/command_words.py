"""Cuts commands of units and containers into words, fills their variables in, and reads what they give a shell.

In: the text of a command and its place. Out: words with places, or the processes that a shell starts from a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process, Unread
from fleetc.adopt.found.words import Word
from fleetc.adopt.node.flags import holes_in
from fleetc.adopt.node.secrets import harmless
from fleetc.adopt.read.shell import read_shell
from fleetc.places.diagnostic import Span

_TOKEN = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\$\{(?:[^{}]|\{[^{}]*\})*\}|<[A-Za-z][^<>\n]{0,80}>"
    r"|\{\{[^{}\n]{0,80}\}\}|(?:\\.|[^\s\"'\\$<{])+|[$<{]",
    re.DOTALL,
)
"""What a word is made of: quoted texts, variables, placeholders such as <YOUR RPC> and {{ rpc }}, plain text."""


class Piece(NamedTuple):
    """A word of a command without its quotes, and where it stands in the text of the command."""

    text: str
    start: int
    end: int


def cut(text: str, unescaped: Callable[[str, str], str]) -> Iterator[Piece]:
    """The words of a command; `unescaped` makes a text of one within quotes, which are "" for none."""
    parts: list[str] = []
    start = end = -1
    for token in _TOKEN.finditer(text):
        if token.start() != end and parts:
            yield Piece("".join(parts), start, end)
            parts = []
        start = start if parts else token.start()
        quote = token[0][0] if len(token[0]) > 1 and token[0][0] in "\"'" else ""
        parts.append(unescaped(token[0][1:-1] if quote else token[0], quote))
        end = token.end()
    if parts:
        yield Piece("".join(parts), start, end)


def filled(raw: str, span: Span, variables: re.Pattern[str], value: Callable[[re.Match[str]], Word]) -> Word:
    """A text with its variables filled in, which `variables` finds by their `name` or `bare` name. The value of one
    whose place is `span` stands in the text itself, or nowhere.
    """
    known: list[tuple[str, Word]] = []
    holes: list[str] = []

    def put(found: re.Match[str]) -> str:
        if found[0] in ("$$", "%%"):
            return found[0][0]
        word = value(found)
        holes.extend(word.holes)
        known.extend([(found["name"] or found["bare"] or "", word)] if word.span != span else [])
        return word.text

    text = variables.sub(put, raw)
    holes += [hole for hole in holes_in(text) if hole not in holes]
    behind = raw.rfind("=", 0, raw.find("$") + 1) + 1
    lone = variables.fullmatch(raw, behind) if "$" in raw else None
    name = (lone["name"] or lone["bare"] or "") if lone is not None else ""
    places = [word.said or word.span for variable, word in known if name or not harmless(variable)]
    said = places[0] if len(places) == 1 else None
    return Word(text, span, tuple(dict.fromkeys(holes)), name, said, behind if name else 0)


def started_inside(
    text: str, span: Span, variables: Mapping[str, Word], library: Library, ledger: Ledger,
    unread: tuple[Unread, ...] = (),
) -> list[Process]:  # fmt: skip
    """The processes of a text that a shell gets; all its words have the place where the shell gets it."""
    inside, account = f"{span.source}\0", Ledger()
    shell = read_shell(inside, text, account, dict(variables), library, unread=unread)

    def move(place: Span) -> Span:
        return span if place.source == inside else place

    ledger.take(account, move)
    return [process.moved(move) for process in shell.processes]
