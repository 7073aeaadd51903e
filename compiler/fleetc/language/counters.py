"""Counters in names and text: `gpu-{01..20}` makes twenty names, and `{10..29}` or `{eu*10,us*10}` beside it a value of
each.

In: text of a spec. Out: `Counted`, which has the text of each member by position, or None for text without a counter.
Raises `CounterError`, in words for people. A literal brace is written twice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

MEMBERS_LIMIT = 10_000
"""How many members one counter may have."""

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_RANGE = re.compile(r"([0-9]{1,9})\.\.([0-9]{1,9})")
_REPEATED = re.compile(r"([^*]+)\*([0-9]{1,9})")
_HOW = "write a range such as {01..20}, a list such as {a,b} or {1..3,7}, or {} for the counter of the name"


class CounterError(ValueError):
    """Text that looks like a counter and is none; `help` is what to write."""

    def __init__(self, message: str, help: str = _HOW) -> None:
        super().__init__(message)
        self.help = help


class Counted(NamedTuple):
    """Text with counters, cut at them: a piece is text, the values of a counter by position, or None for `{}`."""

    pieces: tuple[str | tuple[str, ...] | None, ...]

    @property
    def counters(self) -> tuple[tuple[str, ...], ...]:
        """The values of each counter that has its own."""
        return tuple(piece for piece in self.pieces if isinstance(piece, tuple))

    @property
    def plain(self) -> str | None:
        """The text, if it has no counter at all."""
        return "".join(map(str, self.pieces)) if all(isinstance(piece, str) for piece in self.pieces) else None

    def at(self, position: int, counter: str) -> str:
        """The text of one member: `counter` is its counter in the name."""
        return "".join(
            counter if piece is None else piece if isinstance(piece, str) else piece[position] for piece in self.pieces
        )


@lru_cache(maxsize=1024)
def counted(text: str) -> Counted | None:
    """Read the counters of a text; None if it has no brace. Raises CounterError."""
    if "{" not in text and "}" not in text:
        return None
    pieces: list[str | tuple[str, ...] | None] = []
    end = 0
    for found in _PIECE.finditer(text):
        pieces.append(text[end : found.start()])
        end = found.end()
        if found[0] in ("{{", "}}"):
            pieces.append(found[0][0])
        elif found[1] is None:
            raise CounterError("a brace here has no partner", f"{_HOW}; for a brace itself, write it twice")
        else:
            pieces.append(_values(found[1]) if found[1] else None)
    return Counted((*pieces, text[end:]))


def _values(inside: str) -> tuple[str, ...]:
    """The values of a counter, in order. Raises CounterError."""
    if not any(sign in inside for sign in ("..", ",", "*")):
        raise CounterError("this is no counter", f"{_HOW}; for braces themselves, write them twice: {{{{ and }}}}")
    values: list[str] = []
    for item in inside.split(","):
        item = item.strip()
        found, repeated = _RANGE.fullmatch(item), _REPEATED.fullmatch(item)
        if ".." in item and not found:
            raise CounterError("a range goes from one whole number of at most 9 digits to another", _HOW)
        if found:
            values += _range(found[1], found[2])
        else:
            values += [repeated[1]] * min(int(repeated[2]), MEMBERS_LIMIT + 1) if repeated else [item]
        if len(values) > MEMBERS_LIMIT:
            raise CounterError(f"a counter has at most {MEMBERS_LIMIT} values", "use several tables")
    if not all(values):
        raise CounterError("a value of this counter is empty", _HOW)
    return tuple(values)


def _range(first: str, last: str) -> list[str]:
    """The numbers from first to last, as wide as the first is if it begins with 0."""
    start, end = int(first), int(last)
    if end < start:
        raise CounterError("this range counts down", f"write {{{last}..{first}}}")
    if end - start >= MEMBERS_LIMIT:
        raise CounterError(f"a counter has at most {MEMBERS_LIMIT} values", "use several tables")
    wide = len(first) if first.startswith("0") else 0
    if wide and len(last) != wide:
        raise CounterError("both ends of this range must be equally wide", f"write {{{first}..{end:0{wide}}}}")
    return [f"{number:0{wide}}" for number in range(start, end + 1)]


def names_many(value: Any) -> bool:
    """Whether a list of names has a pattern or a counter."""
    texts = value if isinstance(value, list) and all(isinstance(text, str) for text in value) else ()
    return any("*" in text or "{" in text for text in texts)


def meant_by(text: str, known: Collection[str]) -> Sequence[str]:
    """The names that an entry of a list stands for; itself where it stands for none: references say what is wrong."""
    if text.count("*") == 1:
        return [name for name in known if star_in(text, name) is not None] or (text,)
    try:
        read = counted(text)
    except CounterError:
        return (text,)
    if read is None or len(read.counters) != 1 or None in read.pieces:
        return (text,)
    return [read.at(place, "") for place in range(len(read.counters[0]))]


def star_in(pattern: str, name: str) -> str | None:
    """What the star of a pattern stands for in a name; None where the name is not like it."""
    before, _, behind = pattern.partition("*")
    fits = len(name) > len(before) + len(behind) and name.startswith(before) and name.endswith(behind)
    return name[len(before) : len(name) - len(behind)] if fits else None
