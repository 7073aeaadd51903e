"""Numbers and lists in sentences: a count with its noun, the first names of many.

In: numbers, names. Out: words.
"""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, thing: str, things: str = "") -> str:
    """A number and its noun: "1 host", "41 hosts"; thousands are set off by commas."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def first_of(names: Sequence[str], most: int, joint: str = ", ") -> str:
    """The first names, and how many follow. One more is named rather than counted as one."""
    if len(names) <= most + 1:
        return joint.join(names)
    return f"{joint.join(names[:most])} and {len(names) - most:,} more"
