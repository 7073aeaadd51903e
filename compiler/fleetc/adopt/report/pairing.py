"""Finds which process is which node of a spec.

In: both, and by what they may be known. Out: pairs. A pair is made only where nothing else on either side fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Mark(NamedTuple, Generic[A, B]):
    """By what nodes and processes are known: the same value on both sides, and None is no value. `words` say it."""

    words: str
    of_node: Callable[[A], Hashable]
    of_process: Callable[[B], Hashable]


def paired(nodes: Sequence[A], processes: Sequence[B], marks: Sequence[Mark[A, B]]) -> list[tuple[A, B, str]]:
    """Pairs with what each was found by. An earlier mark goes before a later one."""
    found: list[tuple[A, B, str]] = []
    left, free = list(nodes), list(processes)
    for mark in marks:
        here, there = [mark.of_node(node) for node in left], [mark.of_process(one) for one in free]
        nodes_with, processes_with = Counter(here), Counter(there)
        places = {value: index for index, value in enumerate(there) if processes_with[value] == 1}
        fits = [
            (index, places[value])
            for index, value in enumerate(here)
            if value is not None and nodes_with[value] == 1 and value in places
        ]
        found += [(left[index], free[place], mark.words) for index, place in fits]
        gone, taken = {index for index, _ in fits}, {place for _, place in fits}
        left = [node for index, node in enumerate(left) if index not in gone]
        free = [one for index, one in enumerate(free) if index not in taken]
    return found
