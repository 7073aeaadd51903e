"""Which variables the nodes of a page of notes have: it has the commands of several machines.

In: processes, and the parts of their page. Out: the same without what is exported beside another node, below another
heading. What stands below a heading without a node may be for all of them, and words that name a variable have it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from fleetc.adopt.words import Process, Word


def in_sections(processes: Sequence[Process], parts: Sequence[range]) -> list[Process]:
    """Processes with the variables of their own section, and of those that start nothing. A container has those that
    its command names.
    """
    ordered = sorted(parts, key=lambda part: (part.start, -part.stop))
    outer: list[range] = []
    for part in ordered:
        if part and (not outer or part.start >= outer[-1].stop):
            outer.append(part)
    starts = [part.start for part in outer]

    def section(place: int) -> int:
        return bisect_right(starts, place) - 1

    busy = {section(one.span.start) for one in processes}

    def has(one: Process, word: Word) -> bool:
        other = section(word.span.start)
        return word.span.source != one.span.source or other == section(one.span.start) or other not in busy

    return [
        one
        if one.runtime == "docker" or not outer
        else replace(one, variables={name: word for name, word in one.variables.items() if has(one, word)})
        for one in processes
    ]
