"""The lines in which two texts differ, in time that grows with the texts alone.

In: two texts, or None for a file that is not there. Out: pairs of lines with their numbers. Called by `compare.py`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from fleetc.emit.tree import Artifact, Tree
from fleetc.review.data import Line

_LIMIT = 2000
"""Up to so many lines on either side the best way to pair them is looked for."""


class LinePair(NamedTuple):
    """A line before and after, counted from 1; 0 and None where there is none on that side."""

    old_line: int
    new_line: int
    old: str | None
    new: str | None


def differing(old: str | None, new: str | None) -> list[LinePair]:
    """The lines that differ, in order. Of long texts with as many lines before as after, those at the same place."""
    left, right = ([] if text is None else text.split("\n") for text in (old, new))
    first, last = shared_ends(left, right)
    before, after = left[first : len(left) - last], right[first : len(right) - last]
    if max(len(before), len(after)) <= _LIMIT:
        return list(_matched(before, after, first))
    if len(before) == len(after):
        numbered = enumerate(zip(before, after, strict=True), first + 1)
        return [LinePair(number, number, a, b) for number, (a, b) in numbered if a != b]
    return list(_counted(before, after, first))


def shared_ends(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int]:
    """How many elements, or characters, two sequences have in common at their starts, and then at their ends.

    Halving compares slices, which is many times as fast as going through long ones step by step.
    """
    shorter = min(len(old), len(new))
    first = bisect_left(range(shorter), True, key=lambda place: old[: place + 1] != new[: place + 1])
    last = bisect_left(range(shorter - first), True, key=lambda size: old[-1 - size :] != new[-1 - size :])
    return first, last


def changed_tree_lines(old: Tree, new: Tree) -> Iterator[Line]:
    """The lines that differ between two trees, artifact by artifact in the order of paths."""
    before, after = old.as_mapping(), new.as_mapping()
    for path in sorted(before.keys() | after.keys()):
        texts = [_text(tree.get(path)) for tree in (before, after)]
        for pair in differing(*texts) if texts[0] != texts[1] else ():
            yield Line(path, *pair)


def _text(artifact: Artifact | None) -> str | None:
    return None if artifact is None else artifact.content.decode(errors="replace").removesuffix("\n")


def _matched(before: Sequence[str], after: Sequence[str], first: int) -> Iterator[LinePair]:
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for place in range(max(i2 - i1, j2 - j1)):
            i, j = i1 + place, j1 + place
            old, new = (before[i] if i < i2 else None), (after[j] if j < j2 else None)
            yield LinePair(0 if old is None else first + i + 1, 0 if new is None else first + j + 1, old, new)


def _counted(before: Sequence[str], after: Sequence[str], first: int) -> Iterator[LinePair]:
    """Lines that are gone and lines that are new, without pairs; lines that only moved are left out."""
    gone, come = Counter(before), Counter(after)
    gone.subtract(after)
    come.subtract(before)
    for place, line in enumerate(before):
        if gone[line] > 0:
            gone[line] -= 1
            yield LinePair(first + place + 1, 0, line, None)
    for place, line in enumerate(after):
        if come[line] > 0:
            come[line] -= 1
            yield LinePair(0, first + place + 1, None, line)
