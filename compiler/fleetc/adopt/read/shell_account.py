"""Accounts for commands of a script that start no node, and for those that are passed over.

In: the words of a command. Out: lines of the account, and warnings where a command of a node is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.words import Word
from fleetc.adopt.node.secrets import program
from fleetc.adopt.read.docker_run import STARTS_NONE
from fleetc.adopt.read.shell_input import node_commands
from fleetc.adopt.read.shell_words import Token
from fleetc.adopt.read.shell_wrappers import base_of
from fleetc.places.diagnostic import Span

VARIABLE = "a variable, filled in where it is used"
"""What the account says of a variable of a script."""


def note_other(words: Sequence[Word], why: str, ledger: Ledger) -> None:
    """A command that starts no node."""
    span = Span(words[0].span.source, words[0].span.start, words[-1].span.end)
    ledger.note(span, program(words[0].text), Fate.DROPPED, why)


def note_passed_over(line: Sequence[Token], why: str, source: str, ledger: Ledger, repeated: bool) -> None:
    """A command that the script does not run, or that nobody knows whether it does."""
    span = Span(source, line[0].start, line[-1].end)
    ledger.note(span, program(line[0].text), Fate.DROPPED, why)
    names = [base_of(token.text) for token in line]
    docker = next((at for at, name in enumerate(names) if name in ("docker", "podman")), None)
    starts = "livepeer" in names if docker is None else not STARTS_NONE.intersection(names[docker + 1 : docker + 3])
    if not repeated and (starts or any(node_commands(" ".join(token.text for token in line)))):
        ledger.remark(
            "adopt-branch-not-followed", Span(source, line[0].start, line[0].end),
            f"this command is not read, because {why}", "to adopt it too, give it in a file of its own",
        )  # fmt: skip


def note_assignment(name: str, word: Word, before: Word | None, mode: str, maybe: bool, ledger: Ledger) -> Word | None:
    """Account for a variable that is given a value. Where nobody knows that it gets it, what it is then comes back, if
    it had no value `before`.
    """
    span = word.span
    if mode == "skip":
        ledger.note(span, name, Fate.DROPPED, "the script does not take this branch")
        return Word("", span)
    if maybe and not (before is not None and before.text and word.text.startswith(before.text)):
        ledger.note(span, name, Fate.DROPPED, "a branch that only a running script decides")
        ledger.remark(
            "adopt-branch-not-followed", span, f"only a running script knows whether {name} gets this value",
            f"it is not used; set {name} at the top of the script if it should be",
        )  # fmt: skip
        hole = "${" + name + "}"
        return Word(hole, span, (hole,))
    ledger.note(span, name, Fate.UNDERSTOOD, VARIABLE)
    return None
