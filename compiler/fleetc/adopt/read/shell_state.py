"""What a script has set where it has been read to: variables, arrays, directories, and what it has found.

In: assignments. Out: the state that the reader of commands has.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Unread
from fleetc.adopt.found.words import Word
from fleetc.adopt.read.shell_account import note_assignment
from fleetc.adopt.read.shell_branches import Branches
from fleetc.adopt.read.shell_found import Function, ShellText
from fleetc.adopt.read.shell_input import Inputs
from fleetc.adopt.read.shell_values import Values
from fleetc.adopt.read.shell_words import Token
from fleetc.adopt.read.shell_wrappers import ASSIGNMENT

MANY_WORDS = 20_000
"""Words of a command, or of an array."""


class State(Branches):
    """The state of a script while it is read."""

    def __init__(self, source: str, ledger: Ledger, variables: dict[str, Word], library: Library | None = None) -> None:
        super().__init__()
        self.library = library
        self.exports = False
        self.source, self.ledger = source, ledger
        self.values = Values(source, variables)
        self.exported: dict[str, Word] = {}
        self.found = ShellText()
        self.joined = ""
        self.cut = False
        self.started = 0
        """How many processes there were before the last command, or the last row of commands with pipes."""
        self.piped: int | None = None
        """The same, where the output of that goes into the next command."""
        self.loop: tuple[str, list[Word]] | None = None
        self.repeated = 0
        self.functions: dict[str, Function] = {}
        self.called: set[str] = set()
        self.inputs = Inputs()
        self.texts: dict[str, str] = {}
        self.directory = ""
        """Where the script has gone with `cd`, "" where only a running one knows."""
        """Commands that prepare what the script starts, behind words for how they run."""
        self.unread: tuple[Unread, ...] = ()
        """What may have set variables, and is none of the sources."""
        self.outer: list[str] = []
        """The directories around each `(`."""

    @contextmanager
    def reading(self, source: str) -> Iterator[None]:
        """While the words of another file are read, they have their places there."""
        before, self.source, self.values.source = self.source, source, source
        yield
        self.source = self.values.source = before

    def array(self, opening: Token, stream: Iterator[Token]) -> None:
        """NAME=( words ): up to the bracket that closes it."""
        name = opening.text.partition("=")[0]
        append = name.endswith("+")
        words: list[Word] = []
        for token in stream:
            if token.kind == "op" and token.text == ")":
                break
            if token.kind == "word" and len(words) < MANY_WORDS:
                words += self.values.expand(token)
                self.values.note_folder(name.removesuffix("+"), token)
        name = name.removesuffix("+")
        if self.mode == "run" or append:
            self.values.arrays[name] = (self.values.arrays.get(name, []) if append else []) + words

    def assign(self, name: str, word: Word, maybe: bool) -> None:
        """NAME=value, which `maybe` happens."""
        before = self.values.variables.get(name)
        instead = note_assignment(name, word, before, self.mode, maybe, self.ledger)
        if instead is not None:
            self.values.variables.setdefault(name, instead)
            return
        self.values.variables[name] = word
        if name in self.exported or name.startswith("LP_"):
            self.exported[name] = word

    def export(self, tokens_: list[Token], maybe: bool) -> None:
        """`export NAME=value`, and its like."""
        for token in tokens_:
            found = ASSIGNMENT.match(token.text)
            if found:
                self.assign(found[1], self.values.assigned(token, found), maybe)
            name = found[1] if found else token.text
            if name in self.values.variables:
                self.exported[name] = self.values.variables[name]
