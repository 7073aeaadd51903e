"""Says that flags stand outside of the command that they were meant for.

In: words that begin a line of their own. Out: an account of them, and a warning.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleetc.adopt.showing import HIDDEN_WORD, unread
from fleetc.adopt.words import Fate, Ledger, Word
from fleetc.places.diagnostic import Span


def note_outside(words: Sequence[Word], span: Span, ledger: Ledger) -> None:
    """Account for flags that no node gets, because the line before them ends its command."""
    for word, known in zip(words, unread(words), strict=True):
        if known is None:
            ledger.secrets.append(word.span)
        ledger.note(
            word.span, known or HIDDEN_WORD, Fate.MISTAKE,
            "outside the command: the line before it ends without a backslash", "adopt-command-cut",
        )  # fmt: skip
    ledger.warn(
        "adopt-command-cut", span, "these flags are outside the command: the node never gets them",
        "if they belong to it, end the line before them with a backslash and remove blank and comment lines",
    )  # fmt: skip
