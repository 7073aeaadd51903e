"""Which unit a mistyped one must be.

In: a word that is not a unit, and the units of its quantity with their factors. Out: the only unit that one typo turns
into the word, or "" in doubt: a similar unit may be worth a thousand times as much. Called by the parsers of amounts,
for their help lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_PREFIXES = "kmgtpunfµ"
"""Letters that turn a unit into another one: "mETH" is a thousandth of an ETH, not a typo."""


def near_unit(word: str, units: Mapping[str, object]) -> str:
    """The unit one typo away from `word`, if all units that near have the same factor."""
    if any(word[1:] == unit and word[:1].lower() in _PREFIXES for unit in units):
        return ""
    near = [unit for unit in units if _one_slip(word, unit)]
    return near[0] if len({units[unit] for unit in near}) == 1 else ""


def _one_slip(word: str, unit: str) -> bool:
    """Whether the texts differ by one character that is extra, missing, wrong, or swapped with the next."""
    start = next((at for at, (a, b) in enumerate(zip(word, unit, strict=False)) if a != b), min(len(word), len(unit)))
    left, right = word[start:], unit[start:]
    swapped = left[:2] == right[:2][::-1] and left[2:] == right[2:]
    return left[1:] == right or left == right[1:] or left[1:] == right[1:] or swapped


def listed(units: Iterable[str]) -> str:
    """The units as a help line lists them, for people to choose from."""
    *first, last = units
    return f"units are {', '.join(first)} and {last}"
