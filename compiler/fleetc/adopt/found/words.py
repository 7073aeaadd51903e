"""Words of sources with their places, and values that stand for words.

In: nothing. Out: `Word`, which every reader makes.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleetc.places.diagnostic import Span

OURS = "# Written by fleetc"
"""How each file begins that fleetc writes for a process."""


@dataclass(frozen=True, slots=True)
class Word:
    """A text of a source and its place. `holes` are variables and placeholders in it that no source gives a value.

    `variable` is the one variable whose value it ends with, where a source has that, and `said` where the value stands.
    `behind` are the characters before that value: those of `-flag=` or `NAME=`, and of a text that it is a part of.
    """

    text: str
    span: Span
    holes: tuple[str, ...] = ()
    variable: str = ""
    said: Span | None = None
    behind: int = 0

    @property
    def alone(self) -> str:
        """The variable whose value it is, and nothing else; "" where that is only a part of it."""
        return "" if self.behind else self.variable

    def part(self, start: int, end: int | None = None) -> Word:
        """Some of its characters, with the whole word as their place: quotes and escapes may stand between them."""
        text = self.text[start:end]
        holes = tuple(hole for hole in self.holes if hole in text) if self.holes else ()
        return Word(text, self.span, holes, self.variable, self.said, max(0, self.behind - start))


def unknown(name: str, word: Word) -> Word:
    """A variable that no source gives a value any more, in place of what it was."""
    hole = f"${{{name}}}"
    return Word(hole, word.span, (hole,))


SET = "set"
"""Stands for a secret, of which only its being there is compared and shown."""
