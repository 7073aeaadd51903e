"""Offers sorted by price, so that questions about the whole fleet take a bisection instead of a scan.

In: `PriceEntry` values for one kind of goods. Out: `Ranked`, and `Ranking` on what a cap reaches. Only the files of
this package use it.

The amount of an offer depends on the payer only through the orchestrator's terms: with equal terms, the order of prices
is the same. So a cap becomes the highest base price for each of the few kinds of terms, and sorted offers are shared.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from fleetc.analysis import tickets
from fleetc.analysis.acceptance import (
    BUYS,
    NOT_OFFERED,
    REFUSED,
    TOO_EXPENSIVE,
    UNKNOWN,
    WEI,
    PriceEntry,
    limit,
    quoted,
)
from fleetc.analysis.tickets import Amount, Backing, Chain, PriceLimit, Terms

Kind = tuple[str, Terms]
"""What entries must have in common to be sorted together: the unit of their price, and the terms of their tickets."""

Skip = Callable[[PriceEntry], bool]


class Ranking(NamedTuple):
    """What one cap reaches among several offers of the same goods.

    `outcome` is BUYS if one offer is within the cap, else UNKNOWN if one cannot be judged, else TOO_EXPENSIVE, REFUSED
    or NOT_OFFERED. `cheapest` is the cheapest comparable offer that is not refused, `dearest` the most expensive one
    within the cap, both as they reach the gateway; `best` is the most expensive within the cap for each kind of terms.
    """

    outcome: str
    offers: int = 0
    within: int = 0
    above: int = 0
    refused: int = 0
    cheapest: PriceEntry | None = None
    dearest: PriceEntry | None = None
    best: tuple[PriceEntry, ...] = ()


class Ranked:
    """Entries by kind, each kind sorted by worth. Entries of any price, and free offers, are kept separately."""

    def __init__(self, entries: Iterable[PriceEntry]) -> None:
        groups: dict[Kind, dict[Amount, list[PriceEntry]]] = {}
        self.any: list[PriceEntry] = []
        self.free: list[PriceEntry] = []
        self.size = 0
        for entry in entries:
            self.size += 1
            if entry.price is None:
                self.any.append(entry)
            elif not entry.worth:
                self.free.append(entry)
            else:
                groups.setdefault((entry.unit, entry.terms), {}).setdefault(entry.worth, []).append(entry)
        self._entries: dict[Kind, list[PriceEntry]] = {}
        self._worths: dict[Kind, list[Amount]] = {}
        for kind, found in sorted(groups.items()):
            ordered = sorted(found)
            self._entries[kind] = [entry for worth in ordered for entry in found[worth]]
            self._worths[kind] = [worth for worth in ordered for _ in found[worth]]

    def entries(self) -> Iterator[PriceEntry]:
        """All entries; equal ones keep their order."""
        yield from self.any
        yield from self.free
        for found in self._entries.values():
            yield from found

    @property
    def kinds(self) -> Iterable[Kind]:
        """The kinds of the entries that have a price, sorted."""
        return self._entries.keys()

    def count(self, kind: Kind) -> int:
        """How many entries are of a kind."""
        return len(self._worths.get(kind, ()))

    def within(self, kind: Kind, bound: PriceLimit | None) -> int:
        """How many entries of a kind are within a limit; None is no limit."""
        worths = self._worths.get(kind, [])
        if bound is None:
            return len(worths)
        return (bisect_right if bound.inclusive else bisect_left)(worths, bound.worth)

    def first(self, kind: Kind, skip: Skip) -> PriceEntry | None:
        """The cheapest entry of a kind."""
        return next((entry for entry in self._entries.get(kind, ()) if not skip(entry)), None)

    def last(self, kind: Kind, bound: PriceLimit | None, skip: Skip) -> PriceEntry | None:
        """The most expensive entry of a kind within a limit."""
        entries = self._entries.get(kind, [])
        for index in range(self.within(kind, bound) - 1, -1, -1):
            if not skip(entries[index]):
                return entries[index]
        return None

    def highest(self, unit: str, skip: Skip) -> PriceEntry | None:
        """The highest cap in a unit."""
        return self.last((unit, Terms()), None, skip)

    def beyond(self, unit: str, skip: Skip) -> PriceEntry | None:
        """A cap without a bound in this unit: in another one, or any price."""
        if any_price := next((entry for entry in self.any if not skip(entry)), None):
            return any_price
        others = (entry for kind in self.kinds if kind[0] != unit for entry in self._entries[kind])
        return next((entry for entry in others if not skip(entry)), None)


NOTHING = Ranked(())


def nobody(entry: PriceEntry) -> bool:
    """Skips nothing."""
    return False


class Shelf(NamedTuple):
    """The same goods from several sources: offers that others see too, those to leave out, and own ones.

    `unsure` are those among all of them that may not be found, so that nobody is sure to buy them.
    """

    shared: Ranked
    without: Ranked
    own: Ranked
    skip: Skip
    unsure: Shelf | None = None

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of the visible offers, own ones first."""
        both = dict.fromkeys([*self.own.kinds, *self.shared.kinds])
        return [kind for kind in both if self._count(kind)]

    def first(self, kind: Kind) -> PriceEntry | None:
        """The cheapest offer of a kind."""
        found = (self.shared.first(kind, self.skip), self.own.first(kind, nobody))
        return min((entry for entry in found if entry), key=_worth, default=None)

    def judge(self, cap: PriceEntry, backing: Backing, chain: Chain) -> Ranking:
        """What the cap reaches, for a gateway with these funds."""
        offers = self.shared.size - self.without.size + self.own.size
        if not offers:
            return Ranking(NOT_OFFERED)
        within = self._count_free() - (self.unsure._count_free() if self.unsure is not None else 0)
        above = refused = 0
        cheapest, dearest = self._free(), self._free()
        kinds = self.kinds
        unit = cap.unit if cap.price else one_unit({unit for unit, _ in kinds})
        for kind in kinds:
            ticket = tickets.ticket(kind[1], backing, chain)
            count = self._count(kind)
            if ticket.refusal:
                refused += count
                continue
            bound = limit(cap, kind[0], ticket.overhead, kind[1].adjusts)
            inside = self._inside(kind, bound)
            sure = inside - (self.unsure._inside(kind, bound) if self.unsure is not None else 0)
            if not cap.price or kind[0] == cap.unit:
                above += count - inside
            within += sure if backing.known else 0
            if kind[0] == unit:
                least = self.first(kind)
                cheapest += [quoted(least, ticket)] if least else []
                most = self._last(kind, bound) if inside and backing.known else None
                dearest += [quoted(most, ticket)] if most else []
        judged = within + above + refused
        outcome = BUYS if within else UNKNOWN if offers > judged else TOO_EXPENSIVE if above else REFUSED
        return Ranking(
            outcome, offers, within, above, refused,
            min(cheapest, key=_sent, default=None), max(dearest, key=_sent, default=None), tuple(dearest),
        )  # fmt: skip

    def _inside(self, kind: Kind, bound: PriceLimit | None) -> int:
        return self.shared.within(kind, bound) - self.without.within(kind, bound) + self.own.within(kind, bound)

    def _count_free(self) -> int:
        return len(self.shared.free) - len(self.without.free) + len(self.own.free)

    def _free(self) -> list[PriceEntry]:
        """One of the free offers, if there is any."""
        shared = (entry for entry in self.shared.free if not self.skip(entry))
        found = next(shared, None) or next(iter(self.own.free), None)
        return [found._replace(sent=0)] if found else []

    def _count(self, kind: Kind) -> int:
        return self.shared.count(kind) - self.without.count(kind) + self.own.count(kind)

    def _last(self, kind: Kind, bound: PriceLimit | None) -> PriceEntry | None:
        found = (self.shared.last(kind, bound, self.skip), self.own.last(kind, bound, nobody))
        return max((entry for entry in found if entry), key=_worth, default=None)


def one_unit(units: Collection[str]) -> str:
    """Wei, else the first currency: others are not comparable."""
    return WEI if WEI in units else min(units, default=WEI)


def _worth(entry: PriceEntry) -> Amount:
    return entry.worth


def _sent(entry: PriceEntry) -> Amount:
    return 0 if entry.sent is None else entry.sent
