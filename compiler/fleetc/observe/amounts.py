"""Numbers in logs that can be amounts, and the lowest and the highest of each kind.

In: the texts that stood for the {} of a pattern, line by line. Out: a `Range` for each {} that had a number.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import NamedTuple

_LONGEST = 80  # characters; an amount has fewer
_LEAST, _MOST = Decimal("1e-18"), Decimal(2**128)
"""Bounds of an amount in wei, which is also what no text can make long or slow."""


class Range(NamedTuple):
    """The lowest and the highest of some numbers."""

    low: Decimal
    high: Decimal


def widen(ranges: dict[int, Range], parts: tuple[str, ...]) -> None:
    """Take in the numbers of one line, by the place of their {}."""
    for place, part in enumerate(parts):
        number = _amount(part)
        if number is None:
            continue
        known = ranges.get(place)
        if known is None:
            ranges[place] = Range(number, number)
        elif not known.low <= number <= known.high:
            ranges[place] = Range(min(known.low, number), max(known.high, number))


def _amount(text: str) -> Decimal | None:
    """A positive number, if a text is a possible amount."""
    try:
        number = Decimal(text.strip()) if len(text) <= _LONGEST else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and _LEAST <= number < _MOST else None
