"""Accounts for commands of a script that start no node, and for those that are passed over.

In: the words of a command. Out: lines of the account, and warnings where a command of a node is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleetc.adopt.shell_input import node_commands
from fleetc.adopt.shell_words import Token
from fleetc.adopt.shell_wrappers import base_of
from fleetc.adopt.showing import known_program, program
from fleetc.adopt.words import Fate, Ledger, Word
from fleetc.places.diagnostic import Span


def note_other(words: Sequence[Word], why: str, ledger: Ledger) -> None:
    """A command that starts no node."""
    span = Span(words[0].span.source, words[0].span.start, words[-1].span.end)
    if not known_program(words[0].text):
        ledger.secrets.append(span)
    ledger.note(span, program(words[0].text), Fate.DROPPED, why)


def note_passed_over(line: Sequence[Token], why: str, source: str, ledger: Ledger, repeated: bool) -> None:
    """A command that the script does not run, or that nobody knows whether it does."""
    span = Span(source, line[0].start, line[-1].end)
    if not known_program(line[0].text):
        ledger.secrets.append(span)
    ledger.note(span, program(line[0].text), Fate.DROPPED, why)
    starts = any(base_of(token.text) in ("livepeer", "docker", "podman") for token in line)
    if not repeated and (starts or any(node_commands(" ".join(token.text for token in line)))):
        ledger.remark(
            "adopt-branch-not-followed", Span(source, line[0].start, line[0].end),
            f"this command is not read, because {why}", "to adopt it too, give it in a file of its own",
        )  # fmt: skip
