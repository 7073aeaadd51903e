"""The gateways of a fleet as its orchestrators see them: who would pay a price, and the most that the others pay.

In: a `Fleet` and its `Market`. Out: `Payers`. Called by the rule about unpaid prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fleetc.analysis import tickets
from fleetc.analysis.acceptance import VIDEO, Goods, PriceEntry, limit, quoted
from fleetc.analysis.discovery import AI, MAIN, registry_of
from fleetc.analysis.economics import Market
from fleetc.analysis.ranking import Ranked, Skip, nobody
from fleetc.analysis.tickets import Backing, PriceLimit, Terms
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway


class Payer(NamedTuple):
    """A cap, and the funds of the gateways with this highest cap."""

    cap: PriceEntry
    backing: Backing


class Admitted(NamedTuple):
    """What some payers admit: the most that one of them admits; `open` without a bound, or without a comparable one."""

    open: bool = False
    payer: Payer | None = None
    bound: PriceLimit | None = None


class Highest(NamedTuple):
    """The cap that admits the most, with the base prices that it admits; `asked` is the offer to that gateway."""

    cap: PriceEntry
    bound: PriceLimit
    asked: PriceEntry


class Payers:
    """The gateways that list each orchestrator, and those that search its registry."""

    def __init__(self, fleet: Fleet, market: Market) -> None:
        self._market = market
        self._listing: dict[str, list[Node]] = {}
        self._blockers: dict[str, list[str]] = {}
        searching: list[Node] = []
        for node in fleet.nodes:
            if isinstance(node.settings, Gateway):
                search = market.searches[node.name]
                for seller in search.dropped:
                    self._blockers.setdefault(seller, []).append(node.name)
                for seller in search.listed or ():
                    self._listing.setdefault(seller, []).append(node)
                if search.listed is None:
                    searching.append(node)
        self._searchers = {
            registry: _Searchers(market, [n for n in searching if market.searches[n.name].registry in (registry, None)])
            for registry in (MAIN, AI)
        }
        self._registries = {name: registry_of(settings) for name, settings in fleet.orchestrators.items()}
        self._reaches: dict[tuple[int, str, Terms], tuple[tuple[Payer, ...], Admitted]] = {}

    def highest(self, offer: PriceEntry) -> Highest | None:
        """The highest cap for an offer if every gateway that could use it pays less than it asks of them.

        None if a gateway would pay, if caps are not comparable, or if no gateway of the fleet could use the seller.
        Gateways without tickets from the seller do not count.
        """
        seller, goods = offer.owner, offer.goods
        special = self._market.special_of.get((seller, goods), {})
        blockers = tuple(self._blockers.get(seller, ()))
        searchers = self._searchers[self._registries[seller]]
        groups: list[tuple[tuple[Payer, ...], PriceEntry]] = []
        for node in self._listing.get(seller, ()):
            if self._market.wants(node.name, goods) and node.name not in blockers:
                asked = special.get(self._market.account[node.name] or "", offer)
                if asked:
                    cap = self._market.caps[node.name].of(goods)
                    groups.append(((Payer(cap, self._market.backing[node.name]),), asked))
        for account, asked in special.items():
            if asked is None:
                continue
            groups.append((searchers.of_account(account, goods, asked.unit, blockers), asked))
        groups.append((searchers.but(goods, offer.unit, special, blockers), offer))
        found: list[Highest] = []
        for payers, asked in groups:
            reach = self._reach(payers, asked.unit, asked.terms)
            if reach.open or not asked.worth:
                return None
            if reach.payer is None or reach.bound is None:
                continue
            if reach.bound.admits(asked.worth):
                return None
            if asked.unit == offer.unit:
                ticket = tickets.ticket(asked.terms, reach.payer.backing, self._market.chain)
                found.append(Highest(reach.payer.cap, reach.bound, quoted(asked, ticket)))
        return max(found, key=lambda one: one.bound.worth, default=None)

    def _reach(self, payers: tuple[Payer, ...], unit: str, terms: Terms) -> Admitted:
        """The base prices that some payers admit. Cached, because many sellers have the same payers and equal terms."""
        key = (id(payers), unit, terms)
        if key not in self._reaches:
            self._reaches[key] = (payers, self._new_reach(payers, unit, terms))  # keeps payers, and so their id
        return self._reaches[key][1]

    def _new_reach(self, payers: tuple[Payer, ...], unit: str, terms: Terms) -> Admitted:
        best: Admitted = Admitted()
        for payer in payers:
            ticket = tickets.ticket(terms, payer.backing, self._market.chain)
            if ticket.refusal:
                continue
            bound = limit(payer.cap, unit, ticket.overhead, terms.adjusts)
            if payer.cap.price is None or payer.cap.unit != unit or bound is None:
                return Admitted(open=True)
            if best.bound is None or bound.worth > best.bound.worth:
                best = Admitted(False, payer, bound)
        return best


class _Searchers:
    """The caps of the gateways that search for orchestrators."""

    def __init__(self, market: Market, nodes: list[Node]) -> None:
        self._market = market
        self._searching: dict[str, list[Node]] = {}
        for node in nodes:
            self._searching.setdefault(market.account[node.name] or "", []).append(node)
        self._caps: dict[str, dict[Backing, Ranked]] = {}
        kinds = {goods[0] for offers in market.offers.values() for goods in offers if goods != VIDEO}
        for goods in (VIDEO, *((pipeline, "") for pipeline in sorted(kinds))):
            wanting = [node for node in nodes if market.wants(node.name, goods)]
            self._caps[goods[0]] = self._ranked(market.caps[node.name].of(goods) for node in wanting)
        self._explicit: dict[Goods, dict[str, PriceEntry]] = {}
        for node in nodes:
            for goods, entry in market.caps[node.name].models.items():
                if market.wants(node.name, goods):
                    self._explicit.setdefault(goods, {})[node.name] = entry
        self._of_models = {goods: self._ranked(caps.values()) for goods, caps in self._explicit.items()}
        self._remembered: dict[tuple[Goods, str, tuple[str, ...], tuple[str, ...]], tuple[Payer, ...]] = {}
        self._of_accounts: dict[tuple[str, Goods, str], tuple[Payer, ...]] = {}

    def _ranked(self, caps: Iterable[PriceEntry]) -> dict[Backing, Ranked]:
        """Caps by the funds behind them: with equal funds a higher cap admits more."""
        groups: dict[Backing, list[PriceEntry]] = {}
        for cap in caps:
            groups.setdefault(self._market.backing[cap.owner], []).append(cap)
        return {backing: Ranked(found) for backing, found in groups.items()}

    def of_account(self, account: str, goods: Goods, unit: str, blockers: tuple[str, ...]) -> tuple[Payer, ...]:
        """The highest caps of an account's gateways."""
        key = (account, goods, unit)
        if blockers or key not in self._of_accounts:
            wanting = (n for n in self._searching.get(account, ()) if self._market.wants(n.name, goods))
            nodes = [node for node in wanting if node.name not in blockers]
            found = _highest(self._ranked(self._market.caps[node.name].of(goods) for node in nodes), unit)
            if blockers:
                return found
            self._of_accounts[key] = found
        return self._of_accounts[key]

    def but(
        self, goods: Goods, unit: str, special: Mapping[str, PriceEntry | None], blockers: tuple[str, ...]
    ) -> tuple[Payer, ...]:
        """The highest caps, except for those of accounts in `special` and of gateways that block the seller.

        Cached, because many sellers ask for the same.
        """
        key = (goods, unit, tuple(special), blockers)
        if key not in self._remembered:
            explicit = self._explicit.get(goods, {})

            def settled(entry: PriceEntry) -> bool:
                return (self._market.account[entry.owner] or "") in special or entry.owner in blockers

            own, rest = self._of_models.get(goods, {}), self._caps.get(goods[0], {})
            self._remembered[key] = (
                *_highest(own, unit, settled),
                *_highest(rest, unit, lambda entry: entry.owner in explicit or settled(entry)),
            )
        return self._remembered[key]


def _highest(caps: Mapping[Backing, Ranked], unit: str, skip: Skip = nobody) -> tuple[Payer, ...]:
    """For each kind of funds the widest cap: one without a bound in the unit, else the highest."""
    found = ((caps[backing].beyond(unit, skip) or caps[backing].highest(unit, skip), backing) for backing in caps)
    return tuple(Payer(cap, backing) for cap, backing in found if cap is not None)
