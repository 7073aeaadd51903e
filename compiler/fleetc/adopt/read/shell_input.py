"""Finds the text that a command gets as its input, and commands of nodes in texts that nobody reads.

In: the words of a command. Out: its heredoc or here-string as a word, whether it runs that as commands, and the places
of commands that would be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from posixpath import normpath

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.words import Word, in_one
from fleetc.adopt.node.flags import ROLES
from fleetc.adopt.read.shell_values import Values
from fleetc.adopt.read.shell_words import Token
from fleetc.adopt.read.shell_wrappers import base_of
from fleetc.places.diagnostic import Span

SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh"})
_LONGEST = 100_000
"""Characters of an input that is read; a longer one is data."""
_PRINTS = frozenset({"echo", "printf"})
_ONLY_TALKS = frozenset({
    *_PRINTS, "grep", "egrep", "pgrep", "pkill", "killall", "kill", "ps", "sed", "awk", "logger", "which", "man",
})  # fmt: skip
"""Programs whose words start nothing."""
_NODE = re.compile(
    r"(?<![A-Za-z0-9_.-])(?:livepeer(?:\.exe)?|livepeer/go-livepeer[^\s\"']{0,100})[\"']?(?:[ \t]|\\\r?\n)"
    rf"(?:[^\n#\\]|\\\r?\n|\\[^\r\n]|(?<!\s)#){{0,4000}}?(?<=[\s\"'])--?(?:{'|'.join(sorted(ROLES))})(?![A-Za-z0-9_.-])"
)


@dataclass
class Inputs:
    """What the commands of a text get as their input: `given` that of the text itself, `own` that of one command."""

    given: Word | None = None
    taken: set[Span] = field(default_factory=set)
    own: Word | None = None
    left: Word | None = None
    piped: Word | None = None
    seen: dict[int, Token] = field(default_factory=dict)

    def begin(self, line: Sequence[Token], values: Values) -> None:
        """A command begins."""
        self.own = input_of(line, values) or self.piped or self.given
        self.piped = self.left = None

    def take(self) -> Word | None:
        """The input of the command, which is read from now on."""
        if self.own is not None:
            self.taken.add(self.own.span)
        return self.own

    def end(self, operator: str) -> None:
        """A command has ended; what it writes may go into a pipe."""
        self.piped, self.left = (self.left if operator in ("|", "|&") else None), None

    def warn(self, source: str, ledger: Ledger) -> None:
        """Warn of commands of nodes in heredocs that nothing has read."""
        for start, token in self.seen.items():
            if Span(source, start, start + max(1, len(token.body))) not in self.taken:
                for at in node_commands(token.body):
                    warn_unread(Span(source, start + at, start + at + len("livepeer")), ledger)


def input_of(line: Sequence[Token], values: Values) -> Word | None:
    """The heredoc or here-string of a command, with what is known filled in."""
    for at, token in enumerate(line):
        if token.kind == "op" and token.text in ("<<", "<<-"):
            return values.heredoc(token) if len(token.body) <= _LONGEST else None
        if token.kind == "op" and token.text == "<<<" and at + 1 < len(line):
            words = values.expand(line[at + 1])
            return in_one(words) if words else None
    return None


def passed_on(words: Sequence[Word], given: Word | None) -> Word | None:
    """What a command writes into the pipe behind it, as far as that is known."""
    base = base_of(words[0].text)
    if base == "cat" and all(word.text == "-" for word in words[1:]):
        return given
    said = [word for word in words[1:] if not word.text.startswith("-")]
    return in_one(said) if base in _PRINTS and said else None


def script_of(words: Sequence[Word]) -> Word | None:
    """The script that a shell is told to run; None for one that takes its commands from its input."""
    if any(word.text == "-s" for word in words):
        return None
    return next((word for word in words[1:] if not word.text.startswith("-")), None)


def written_script(words: Sequence[Word], files: Iterable[str]) -> str | None:
    """Which of the files that were written before a command runs."""
    script = script_of(words) if base_of(words[0].text) in SHELLS else words[0]
    paths = [path for path in files if script is not None and normpath(path) == normpath(script.text)]
    return paths[0] if paths else None


def node_commands(text: str) -> Iterator[int]:
    """Where commands of nodes begin in a text; a comment is none."""
    for found in _NODE.finditer(text):
        begin = text.rfind("\n", 0, found.start()) + 1
        if not text[begin : found.start()].lstrip().startswith(("#", ";", "//")):
            yield found.start()


def note_unread(words: Sequence[Word], ledger: Ledger) -> None:
    """Warn of commands of nodes among the words of a command that is no node."""
    if base_of(words[0].text) not in _ONLY_TALKS and any(node_commands(" ".join(word.text for word in words))):
        warn_unread(Span(words[0].span.source, words[0].span.start, words[-1].span.end), ledger)


def warn_unread(span: Span, ledger: Ledger) -> None:
    """Say that a command of a node is lost."""
    ledger.secrets.append(span)
    ledger.warn(
        "adopt-branch-not-followed", span, "a command of a node stands here, in a text that is not read as commands",
        "if it starts a node, give that command in a file of its own; HOST=FILE says which host it is on",
    )  # fmt: skip
