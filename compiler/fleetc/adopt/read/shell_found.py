"""What a shell text holds: the processes that it starts, and the files that it writes, here or on other hosts.

In: what the reader of shell texts finds. Out: the same of a text with the texts within it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

from fleetc.adopt.found.process import Process
from fleetc.adopt.found.words import Word
from fleetc.adopt.read.shell_input import node_commands
from fleetc.adopt.read.shell_words import ShellError, Token, body_of, tokens
from fleetc.places.diagnostic import Span

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]*")
_FUNCTION = re.compile(r"(?m)^[ \t]*(?:function[ \t]+[A-Za-z_]|[A-Za-z_][A-Za-z0-9_.:-]*[ \t]*\([ \t]*\))")


class Function(NamedTuple):
    """A function of a script: what is in it, and the text and the source that it stands in."""

    inner: list[Token]
    text: str
    source: str


def function_name(line: Sequence[Token], token: Token) -> str:
    """The name of the function that begins with a token behind the words of a line; "" where none does."""
    words = [one.text for one in line]
    begins = token.text in ("(", "{") if words[:1] == ["function"] else token.text == "("
    named = words[-1] if begins and len(words) == 1 + (words[:1] == ["function"]) else ""
    return named if _NAME.fullmatch(named) else ""


def function_body(opening: Token, stream: Iterator[Token]) -> tuple[list[Token] | None, Iterator[Token]]:
    """What is in a function, and the tokens behind it; None where there is no body, and all tokens come back."""
    taken = [opening]
    for token in chain([opening], stream) if opening.text == "{" else stream:
        taken.append(token)
        if token.text == "{":
            return list(body_of(stream, ("{",), "}")), stream
        if token.text not in (")", "\n"):
            break
    return None, chain(taken, stream)


def is_script(text: str) -> bool:
    """Whether a file that a script reads has more than variables: functions, or commands of nodes."""
    if _FUNCTION.search(text) is None and not any(node_commands(text)):
        return False
    try:
        return all(True for _ in tokens(text))
    except ShellError:
        return False


@dataclass
class ShellText:
    """Processes, and texts of files by path; `run` are those files that the text itself runs as scripts."""

    processes: list[Process] = field(default_factory=list)
    files: dict[str, Word] = field(default_factory=dict)
    run: set[str] = field(default_factory=set)
    _settled: int = 0
    """How many processes the branches of a `case` before this one start."""

    def branch_over(self) -> None:
        """A branch of a `case` ends."""
        self._settled = len(self.processes)

    def drop_repeats(self) -> None:
        """Leave out what a branch before starts with the same command: only one of both runs, start or restart."""
        before, here = self.processes[: self._settled], self.processes[self._settled :]
        self.processes[self._settled :] = [one for one in here if one not in before]

    def take(self, inner: ShellText, move: Callable[[Span], Span]) -> None:
        """All of a text within this one, at the places that it has here."""
        processes = [one.moved(move) for one in inner.processes]
        files = {path: replace(word, span=move(word.span)) for path, word in inner.files.items()}
        self.processes += processes
        self.files |= files
        self.run |= inner.run
