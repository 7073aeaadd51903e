"""Collisions of ports of avatar slots with each other and with other programs.

In: plain numbers: the port of slot 0 for each service, and the numbers of the slots. Out: a `PortClash` for each pair
of services that collide, and who claims each port. Called by the rules about ports of slots. It needs no fleet and
makes no diagnostics: a table of facts can be recomputed with it. The time is linear in the number of slots.

A service with base B takes port B + n for slot n. Two services with bases L < H collide where the slot of the lower one
is H - L above the slot of the higher one: no slot collides with itself, and one difference describes a whole pair.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple


class PortClash(NamedTuple):
    """Two services that take one port in different slots: `lower` has the lower base and the higher slot.

    `first` and `last` are (slot of lower, slot of higher), by the port that both take; `pairs` is the total number.
    """

    lower: str
    higher: str
    difference: int
    pairs: int
    first: tuple[int, int]
    last: tuple[int, int]
    first_port: int
    last_port: int


def meetings(bases: Mapping[str, int], slots: Mapping[str, Collection[int]]) -> list[PortClash]:
    """The pairs of services that collide, the most pairs first. `slots` has the slots that publish each service.

    Services with the same base would collide in the same slot; they raise ValueError.
    """
    found = []
    for one, other in combinations(sorted(bases, key=lambda service: bases[service]), 2):
        difference = bases[other] - bases[one]
        if not difference:
            raise ValueError(f"{one} and {other} have one base")
        lows = set(slots.get(one, ()))
        highs = [slot for slot in set(slots.get(other, ())) if slot + difference in lows]
        if highs:
            first, last = min(highs), max(highs)
            found.append(
                PortClash(
                    one,
                    other,
                    difference,
                    len(highs),
                    (first + difference, first),
                    (last + difference, last),
                    bases[other] + first,
                    bases[other] + last,
                )
            )
    return sorted(found, key=lambda meeting: -meeting.pairs)


def claims(bases: Mapping[str, int], slots: Mapping[str, Collection[int]]) -> dict[int, list[tuple[str, int]]]:
    """Every port that slots take, with the services and slots that claim it, in the order of `bases`."""
    taken: dict[int, list[tuple[str, int]]] = {}
    for service, slot in _each(bases, slots):
        taken.setdefault(bases[service] + slot, []).append((service, slot))
    return taken


def _each(bases: Mapping[str, int], slots: Mapping[str, Collection[int]]) -> Iterator[tuple[str, int]]:
    for service in bases:
        for slot in sorted(set(slots.get(service, ()))):
            yield service, slot
