"""Offers in the order of their prices, so that whole-fleet questions need a bisection and not a walk.

In: `Entry` values for one kind of goods. Out: `Ranked`, and `Verdict` on what a cap reaches. Only the files of this
package use it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from compiler.analysis.acceptance import BUYS, NOT_OFFERED, TOO_DEAR, UNKNOWN, Amount, Entry

_FREE = "free"
"""The unit of offers of nothing, which every cap admits. No currency has lower-case letters but wei."""

Skip = Callable[[Entry], bool]


class Verdict(NamedTuple):
    """What one cap reaches among several offers of the same goods.

    `outcome` is BUYS when one offer is within the cap, else UNKNOWN when one cannot be compared, else TOO_DEAR or
    NOT_OFFERED. `cheapest` is the cheapest offer that compares, `dearest` the dearest one within the cap.
    """

    outcome: str
    offers: int = 0
    within: int = 0
    above: int = 0
    cheapest: Entry | None = None
    dearest: Entry | None = None


class Ranked:
    """Entries by unit, each unit sorted by worth. Entries of any price stand apart."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        groups: dict[str, dict[Amount, list[Entry]]] = {}
        self.any: list[Entry] = []
        self.size = 0
        for entry in entries:
            self.size += 1
            if entry.price is None:
                self.any.append(entry)
            else:
                unit = entry.unit if entry.worth else _FREE
                groups.setdefault(unit, {}).setdefault(entry.worth, []).append(entry)
        self._entries: dict[str, list[Entry]] = {}
        self._worths: dict[str, list[Amount]] = {}
        for unit, found in sorted(groups.items()):
            ordered = sorted(found)
            self._entries[unit] = [entry for worth in ordered for entry in found[worth]]
            self._worths[unit] = [worth for worth in ordered for _ in found[worth]]

    def entries(self) -> Iterator[Entry]:
        """All entries, those of one unit and worth in the order in which they came."""
        yield from self.any
        for found in self._entries.values():
            yield from found

    def within(self, cap: Entry) -> int:
        """How many entries the cap admits for certain."""
        if cap.unbounded:
            return self.size
        return len(self._entries.get(_FREE, ())) + bisect_right(self._worths.get(cap.unit, ()), cap.worth)

    def comparable(self, cap: Entry) -> int:
        """How many entries compare with the cap."""
        if cap.unbounded:
            return self.size
        return len(self._entries.get(_FREE, ())) + len(self._entries.get(cap.unit, ()))

    def first(self, unit: str, skip: Skip) -> Entry | None:
        """The cheapest entry in the unit; one of nothing before all others."""
        for kind in (_FREE, unit):
            for entry in self._entries.get(kind, ()):
                if not skip(entry):
                    return entry
        return None

    def last(self, unit: str, worth: Amount | None, skip: Skip) -> Entry | None:
        """The dearest entry in the unit up to a worth."""
        for kind in (unit, _FREE):
            entries = self._entries.get(kind, [])
            end = len(entries) if worth is None or kind == _FREE else bisect_right(self._worths.get(kind, ()), worth)
            for index in range(end - 1, -1, -1):
                if not skip(entries[index]):
                    return entries[index]
        return None

    def units(self) -> list[str]:
        """The units of the entries, wei first."""
        return sorted((unit for unit in self._entries if unit != _FREE), key=lambda unit: (unit != "wei", unit))

    def beyond(self, unit: str, skip: Skip) -> Entry | None:
        """An entry that says nothing in this unit: in another one, or any price."""
        if any_price := next((entry for entry in self.any if not skip(entry)), None):
            return any_price
        others = (entry for other in self.units() if other != unit for entry in self._entries[other])
        return next((entry for entry in others if not skip(entry)), None)


NOTHING = Ranked(())


def nobody(entry: Entry) -> bool:
    """Skips nothing."""
    return False


class Shelf(NamedTuple):
    """The same goods from several sides: offers that others see too, those not meant for one, and its own ones."""

    shared: Ranked
    without: Ranked
    own: Ranked
    skip: Skip

    def judge(self, cap: Entry) -> Verdict:
        """What the cap reaches."""
        offers = self.shared.size - self.without.size + self.own.size
        if not offers:
            return Verdict(NOT_OFFERED)
        within = self.shared.within(cap) - self.without.within(cap) + self.own.within(cap)
        comparable = self.shared.comparable(cap) - self.without.comparable(cap) + self.own.comparable(cap)
        units = [cap.unit] if cap.price else [*self.own.units(), *self.shared.units()] or ["wei"]
        unit = "wei" if "wei" in units else min(units)
        cheapest = _extreme([self.shared.first(unit, self.skip), self.own.first(unit, nobody)], dearest=False)
        dearest = None
        if within:
            most = None if cap.unbounded else cap.worth
            found = [self.shared.last(unit, most, self.skip), self.own.last(unit, most, nobody)]
            dearest = _extreme(found, dearest=True)
        outcome = BUYS if within else UNKNOWN if offers > comparable else TOO_DEAR
        return Verdict(outcome, offers, within, comparable - within, cheapest, dearest)


def _extreme(found: Sequence[Entry | None], dearest: bool) -> Entry | None:
    entries = [entry for entry in found if entry is not None]
    if not entries:
        return None
    return max(entries, key=_worth) if dearest else min(entries, key=_worth)


def _worth(entry: Entry) -> Amount:
    return entry.worth
