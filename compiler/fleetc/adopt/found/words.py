"""Words of sources with their places, and values that stand for words.

In: nothing. Out: `Word`, which every reader makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

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


def in_one(words: Sequence[Word]) -> Word:
    """Words in one text with spaces between them, as ssh sends them."""
    span = Span(words[0].span.source, words[0].span.start, words[-1].span.end)
    return Word(" ".join(word.text for word in words), span, tuple(hole for word in words for hole in word.holes))


SET = "set"
"""Stands for a secret, of which only its being there is compared and shown."""


class Same(str):
    """A reason for which a setting is written otherwise and does the same: nobody has to look at it."""

    __slots__ = ()


class Brief(str):
    """A reason whose first screen says less, because another line there says the rest: `brief`, "" for nothing."""

    __slots__ = ("brief",)
    brief: str

    def __new__(cls, words: str, brief: str) -> Self:
        """The whole reason, and what of it the first screen says."""
        made = super().__new__(cls, words)
        made.brief = brief
        return made


class Unknown(str):
    """A reason of a setting whose value of today no source says, so that nobody knows whether it changes."""

    __slots__ = ()


class Aside(NamedTuple):
    """What changes for a process beside its settings: in `words`, and as a `topic` with what is so of this process, by
    which the first screen tells it of several at once. `values` are keys with another value: key, today, then.
    """

    words: str
    topic: str = ""
    detail: str = ""
    values: tuple[tuple[str, str, str], ...] = ()
