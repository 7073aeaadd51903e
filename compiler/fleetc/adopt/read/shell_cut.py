"""Finds the command that flags on a line of their own were meant for, or says that they stand outside of it.

In: words that begin a line, and the processes before them. Out: those with the words, or a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.process import Process
from fleetc.adopt.found.words import Word
from fleetc.adopt.node import secrets
from fleetc.places.diagnostic import Span


def loose(words: list[Word], span: Span, started: list[Process], cut: bool, ledger: Ledger) -> None:
    """Words that begin with a flag: the rest of a command that a comment cut, or flags without a program."""
    before = started[-1] if started else None
    if before is None:
        started.append(Process("", span, tuple(words)))
    elif not before.program and before.runtime == "systemd":
        started[-1] = replace(before, words=(*before.words, *words))
    elif cut:
        ledger.mistake(
            "adopt-command-cut", words[0].span, words[0].text.split("=")[0],
            "a comment between the lines ends the command: a shell passes none of the flags behind it to the node",
            "they are adopted as they were meant; to run the command as it is, remove the comment lines in it",
        )  # fmt: skip
        started[-1] = replace(before, words=(*before.words, *words))
    else:
        note_outside(words, span, ledger)


def note_outside(words: Sequence[Word], span: Span, ledger: Ledger) -> None:
    """Account for flags that no node gets, because the line before them ends its command."""
    for word, known in zip(words, secrets.words(words), strict=True):
        ledger.note(
            word.span, known, Fate.MISTAKE,
            "outside the command: the line before it ends without a backslash", "adopt-command-cut",
        )  # fmt: skip
    ledger.warn(
        "adopt-command-cut", span, "these flags are outside the command: the node never gets them",
        "if they belong to it, end the line before them with a backslash and remove blank and comment lines",
    )  # fmt: skip
