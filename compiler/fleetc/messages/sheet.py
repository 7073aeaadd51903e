"""Text of a page for a terminal: headings, and sentences that wrap at its width.

In: words. Out: lines. A page for a pipe has no colour, so its text is plain. Called by the pages of `fleetc explain`.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

WIDTH = 100
"""The width of a page where there is no terminal, and the most that is used of one: longer lines are hard to read."""

_LEAST = 40


class Sheet(NamedTuple):
    """How a page is laid out: its width in columns, and whether it has styles."""

    width: int = WIDTH
    colour: bool = False

    def head(self, text: str) -> str:
        """A heading."""
        return f"\x1b[1m{text}\x1b[0m" if self.colour else text

    def quiet(self, lines: list[str]) -> list[str]:
        """Lines that matter less than those around them."""
        return [f"\x1b[2m{line}\x1b[0m" for line in lines] if self.colour else lines

    def filled(self, text: str, indent: str = "", more: str | None = None) -> list[str]:
        """A sentence, wrapped; lines after the first begin with `more`, else with `indent` too."""
        return textwrap.wrap(
            text,
            max(min(self.width, WIDTH), _LEAST),
            initial_indent=indent,
            subsequent_indent=indent if more is None else more,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def row(self, name: str, text: str, column: int) -> list[str]:
        """A name and its sentence, which begins at a column."""
        return self.filled(text, f"  {name:<{column - 2}}", " " * column)
