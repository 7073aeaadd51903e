"""Numbers and lists in sentences: a count with its noun, the first names of many.

In: numbers, names. Out: words.
"""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, thing: str) -> str:
    """A number and its noun: "1 host", "41 hosts"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def first_of(names: Sequence[str], most: int, joint: str = ", ") -> str:
    """The first names, and how many follow."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return joint.join(names[:most]) + more
