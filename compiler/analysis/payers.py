"""The gateways of a fleet as its orchestrators see them: who would pay a price, and what the others pay at most.

In: a `Fleet` and its `Market`. Out: `Payers`. Called by the rule about prices that nobody pays.
"""

from __future__ import annotations

from collections.abc import Mapping

from compiler.analysis.acceptance import BUYS, UNKNOWN, VIDEO, Entry, Goods, decide
from compiler.analysis.economics import Market
from compiler.analysis.ranking import NOTHING, Ranked, Skip, nobody
from compiler.model.fleet import Fleet, Node
from compiler.model.gateway import Gateway


class Payers:
    """The gateways that list each orchestrator, and the caps of those that search."""

    def __init__(self, fleet: Fleet, market: Market) -> None:
        self._market = market
        self._listing: dict[str, list[Node]] = {}
        self._blockers: dict[str, list[str]] = {}
        searching: list[Node] = []
        for node in fleet.nodes:
            if isinstance(node.settings, Gateway):
                for seller in market.blocked(node.name):
                    self._blockers.setdefault(seller, []).append(node.name)
                for seller in market.listed(node.name) or ():
                    self._listing.setdefault(seller, []).append(node)
                if market.listed(node.name) is None:
                    searching.append(node)
        self._searching: dict[str, list[Node]] = {}
        for node in searching:
            self._searching.setdefault(market.account[node.name] or "", []).append(node)
        self._caps: dict[str, Ranked] = {}
        kinds = {goods[0] for offers in market.offers.values() for goods in offers if goods != VIDEO}
        for goods in (VIDEO, *((pipeline, "") for pipeline in sorted(kinds))):
            wanting = [node for node in searching if market.wants(node.name, goods)]
            self._caps[goods[0]] = Ranked(market.caps[node.name].of(goods) for node in wanting)
        self._explicit: dict[Goods, dict[str, Entry]] = {}
        for node in searching:
            for goods, entry in market.caps[node.name].models.items():
                if market.wants(node.name, goods):
                    self._explicit.setdefault(goods, {})[node.name] = entry
        self._ranked = {goods: Ranked(caps.values()) for goods, caps in self._explicit.items()}
        self._remembered: dict[tuple[Goods, str, tuple[str, ...], tuple[str, ...]], tuple[Entry, ...] | None] = {}
        self._of_accounts: dict[tuple[str, Goods, str], tuple[Entry, ...] | None] = {}

    def highest(self, offer: Entry) -> Entry | None:
        """The highest cap for an offer when every gateway that could use it pays less than it asks of them.

        None when somebody would pay, when caps do not compare, or when no gateway of the fleet could use the seller.
        """
        seller, goods = offer.owner, offer.goods
        special = self._market.special_of.get((seller, goods), {})
        blockers = tuple(self._blockers.get(seller, ()))
        caps: list[Entry] = []
        for node in self._listing.get(seller, ()):
            if self._market.wants(node.name, goods) and node.name not in blockers:
                cap = self._market.caps[node.name].of(goods)
                asked = special.get(self._market.account[node.name] or "", offer)
                if asked and _pays(cap, asked):
                    return None
                caps += [cap] if asked else []
        for account, asked in special.items():
            if asked is None:
                continue
            found = self._highest_of_account(account, goods, asked.unit, blockers)
            if found is None or any(_pays(cap, asked) for cap in found):
                return None
            caps += found
        others = self._highest_of_searchers(goods, offer.unit, special, blockers)
        if others is None or any(_pays(cap, offer) for cap in others):
            return None
        caps += others
        return max((cap for cap in caps if cap.unit == offer.unit), key=lambda cap: cap.worth, default=None)

    def _highest_of_account(
        self, account: str, goods: Goods, unit: str, blockers: tuple[str, ...]
    ) -> tuple[Entry, ...] | None:
        """The highest cap of an account's gateways that search; None when one of them has no bound in the unit."""
        key = (account, goods, unit)
        if blockers or key not in self._of_accounts:
            wanting = (n for n in self._searching.get(account, ()) if self._market.wants(n.name, goods))
            nodes = [node for node in wanting if node.name not in blockers]
            found = _highest(Ranked(self._market.caps[node.name].of(goods) for node in nodes), unit)
            if blockers:
                return found
            self._of_accounts[key] = found
        return self._of_accounts[key]

    def _highest_of_searchers(
        self, goods: Goods, unit: str, special: Mapping[str, Entry | None], blockers: tuple[str, ...]
    ) -> tuple[Entry, ...] | None:
        """The highest caps of gateways that search, but for accounts in `special` and for those that block the seller.

        None when one of them has no bound in the unit. Remembered, as many sellers ask for the same.
        """
        key = (goods, unit, tuple(special), blockers)
        if key not in self._remembered:
            explicit = self._explicit.get(goods, {})

            def settled(entry: Entry) -> bool:
                return (self._market.account[entry.owner] or "") in special or entry.owner in blockers

            ranked, rest = self._ranked.get(goods, NOTHING), self._caps.get(goods[0], NOTHING)
            one = _highest(ranked, unit, settled)
            other = _highest(rest, unit, lambda entry: entry.owner in explicit or settled(entry))
            self._remembered[key] = None if one is None or other is None else (*one, *other)
        return self._remembered[key]


def _highest(caps: Ranked, unit: str, skip: Skip = nobody) -> tuple[Entry, ...] | None:
    if caps.beyond(unit, skip):
        return None
    found = caps.last(unit, None, skip)
    return () if found is None else (found,)


def _pays(cap: Entry, offer: Entry) -> bool:
    """Whether the cap admits the offer, as far as anybody can tell."""
    return decide(cap, offer).outcome in (BUYS, UNKNOWN)
