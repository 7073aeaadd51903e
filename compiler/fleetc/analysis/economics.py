"""The market of a fleet: buyers, sellers, prices and caps.

In: a sound `Fleet` on a chain. Out: `Market`, which answers for one gateway and some goods, and `matrix`, all of it at
once. Called by the rules about prices, `payers.py` and lowering.

Whom a gateway asks is in `discovery.py`; one that searches is assumed to find every orchestrator of the fleet in its
registry. Which others it finds is not known.
Prices compare in wei if the spec states a rate for their currency, else only within one currency. They include the cost
of redeeming a ticket, at the gas price that the spec states or the default one.

Building a market is linear in the fleet, except for sorting distinct prices. A question about a gateway that searches
costs a bisection, because gateways that see the same offers share one sorted list of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from fleetc.analysis import tickets
from fleetc.analysis.acceptance import (
    BUYS,
    NOT_ASKED,
    NOT_WANTED,
    REFUSED,
    UNKNOWN,
    VIDEO,
    Decision,
    Goods,
    PriceEntry,
    Scale,
    backing_of,
    caps_of,
    chain_of,
    decide,
    offers_of,
    quoted,
    special_offers,
    until,
)
from fleetc.analysis.discovery import UNSURE, Search, registry_of, searches
from fleetc.analysis.ranking import NOTHING, Ranked, Ranking, Shelf, nobody, one_unit
from fleetc.analysis.tickets import Backing, Chain
from fleetc.language import effective
from fleetc.language.answers import once_for_all
from fleetc.language.fleet import Fleet, Node
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.signing import SIGNED_PIPELINE, account_of, has_signer, payer

CELL_GATEWAYS, CELL_OFFERS = 40, 60
"""Up to this size every gateway is compared with every offer; a larger fleet has one summary per gateway."""


class Cell(NamedTuple):
    """One gateway against one orchestrator and some goods; the offer as it reaches the gateway."""

    gateway: str
    orchestrator: str
    goods: Goods
    decision: Decision
    cap: PriceEntry
    offer: PriceEntry | None


class Summary(NamedTuple):
    """What one gateway can buy of one kind, video or models: how many offers it reaches and their outcomes."""

    gateway: str
    kind: str
    offers: int
    within: int
    above: int
    refused: int
    cheapest: PriceEntry | None
    dearest: PriceEntry | None


class Matrix(NamedTuple):
    """The whole market: each pair in a small fleet (else `cells` is None), and a summary of each gateway."""

    cells: tuple[Cell, ...] | None
    summaries: tuple[Summary, ...]


class View:
    """The offers that some gateways see: the shared ones except for some, and some of their own.

    `unsure` are the sellers that the gateways may not find, `shared_unsure` their shared offers.
    """

    def __init__(
        self,
        shared: dict[Goods, Ranked],
        without: dict[Goods, list[PriceEntry]],
        own: list[PriceEntry],
        unsure: frozenset[str] = frozenset(),
        shared_unsure: Mapping[Goods, Ranked] = MappingProxyType({}),
    ) -> None:
        self._shared = shared
        self._without = without
        self._own: dict[Goods, list[PriceEntry]] = {}
        for entry in own:
            self._own.setdefault(entry.goods, []).append(entry)
        self._unsure, self._shared_unsure = unsure, shared_unsure
        self._shelves: dict[Goods, Shelf] = {}
        self._asked: dict[Goods, int] = {}
        self._verdicts: dict[tuple[object, ...], Ranking] = {}

    @cached_property
    def models(self) -> tuple[Goods, ...]:
        """The models that are on offer here, sorted."""
        return tuple(sorted({*self._shared, *self._own} - {VIDEO}))

    def judge(self, goods: Goods, cap: PriceEntry, backing: Backing, chain: Chain) -> Ranking:
        """What a cap reaches of some goods. Cached, because gateways share their caps and their funds."""
        key = (goods, backing, chain, cap.unit, cap.worth)  # a cap without a bound has no unit
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self.shelf(goods).judge(cap, backing, chain)
        return verdict

    def shelf(self, goods: Goods) -> Shelf:
        """The offers of some goods. Once skipping excluded offers costs more than a list without them, it makes that
        list: many gateways may share a view.
        """
        shelf = self._shelves.get(goods)
        asked = self._asked[goods] = self._asked.get(goods, 0) + 1
        if shelf is None:
            without = self._without.get(goods, [])
            gone = {entry.owner for entry in without}
            shared = self._shared.get(goods, NOTHING)
            own, unsure = self._own.get(goods, []), None
            if self._unsure:
                less, more = (Ranked(e for e in part if e.owner in self._unsure) for part in (without, own))
                unsure = Shelf(self._shared_unsure.get(goods, NOTHING), less, more, nobody)
            shelf = Shelf(shared, Ranked(without), Ranked(own), lambda entry: entry.owner in gone, unsure)
        elif shelf.without.size * asked > shelf.shared.size:
            skip = shelf.skip
            kept = Ranked(entry for entry in shelf.shared.entries() if not skip(entry))
            shelf = Shelf(kept, NOTHING, shelf.own, nobody, shelf.unsure)
        self._shelves[goods] = shelf
        return shelf


class Market:
    """The offers and caps of a fleet on a chain.

    `payers` has the signer of each gateway's tickets: the gateway itself, a signer, or "" for one outside the fleet.
    """

    def __init__(self, fleet: Fleet) -> None:
        scale = Scale(fleet.rates)
        self._buyers = {name: Node("gateways", name, gateway) for name, gateway in sorted(fleet.gateways.items())}
        self.caps = {name: caps_of(fleet, scale, node) for name, node in self._buyers.items()}
        paying = {name: payer(fleet, node) for name, node in self._buyers.items()}
        self.payers = {name: found.name if found is not None else "" for name, found in paying.items()}
        accounts = {name: account_of(fleet, name) for name in fleet.gateways}
        self.searches = searches(fleet)
        self._registries = {name: registry_of(settings) for name, settings in fleet.orchestrators.items()}
        self.account = {name: None if found is None else str(found).lower() for name, found in accounts.items()}
        self.backing = {name: backing_of(fleet, node) for name, node in self._buyers.items()}
        self.chain = chain_of(fleet)
        self.quiet = tickets.quiet(self.chain)
        self.offers: dict[str, dict[Goods, PriceEntry]] = {}
        self.special: dict[str, dict[tuple[str, Goods], PriceEntry | None]] = {}
        self.special_of: dict[tuple[str, Goods], dict[str, PriceEntry | None]] = {}
        self._sold: dict[str, dict[Goods, PriceEntry | None]] = {}
        for node in fleet.nodes:
            if isinstance(node.settings, Orchestrator):
                self._add_seller(fleet, scale, node, node.settings)
        self._shared: dict[tuple[str | None, int], dict[Goods, Ranked]] = {}
        self._views: dict[tuple[object, ...], View] = {}
        self._view_of: dict[str, View] = {}

    def _add_seller(self, fleet: Fleet, scale: Scale, node: Node, orchestrator: Orchestrator) -> None:
        name = node.name
        sold = self._sold[name] = offers_of(fleet, scale, node, orchestrator)
        self.offers[name] = {goods: entry for goods, entry in sold.items() if entry is not None}
        for account, goods, entry in special_offers(fleet, scale, node, orchestrator):
            if goods in sold:
                self.special.setdefault(account, {})[name, goods] = entry
                self.special_of.setdefault((name, goods), {})[account] = entry

    def wants(self, name: str, goods: Goods) -> bool:
        """Whether the gateway asks for such goods: by its mode, and behind a signer only for what that pays for."""
        node = self._buyers[name]
        if has_signer(node) and goods[0] != SIGNED_PIPELINE:
            return False
        return effective.serves_video(node) if goods == VIDEO else effective.serves_ai(node)

    def goods(self, seller: str) -> Iterable[Goods]:
        """Whatever the orchestrator has a price for, be it for one gateway only or unknown."""
        return self._sold[seller]

    def offer(self, name: str, seller: str, goods: Goods) -> PriceEntry | None:
        """What the orchestrator asks of the gateway for some goods, or None if it does not sell them."""
        special = self.special.get(self.account[name] or "", {})
        return special.get((seller, goods), self.offers[seller].get(goods))

    def cell(self, name: str, seller: str, goods: Goods) -> Cell:
        """Whether one gateway buys some goods from one orchestrator, and why not."""
        cap, offer, backing = self.caps[name].of(goods), self.offer(name, seller, goods), self.backing[name]
        search = self.searches[name]
        why_not = search.why_not(seller) if self.wants(name, goods) else NOT_WANTED
        decision = Decision(NOT_ASKED, None, why_not) if why_not else decide(cap, offer, backing, self.chain)
        if decision.outcome == BUYS and seller in search.unsure:
            decision = Decision(UNKNOWN, None, UNSURE)
        if offer is not None:
            offer = quoted(offer, tickets.ticket(offer.terms, backing, self.chain))
        return Cell(name, seller, goods, decision, cap, offer)

    def until(self, cell: Cell) -> int | None:
        """The gas price in wei below which the two of a cell trade, if there is one."""
        if cell.decision.outcome in (NOT_ASKED, UNKNOWN) or cell.offer is None:
            return None
        return until(cell.cap, cell.offer, self.backing[cell.gateway], self.chain)

    def judge(self, name: str, goods: Goods, chain: Chain | None = None) -> Ranking:
        """What the gateway can get of some goods, whether or not its mode asks for them; on another chain if given."""
        return self.view(name).judge(goods, self.caps[name].of(goods), self.backing[name], chain or self.chain)

    def judge_price(self, name: str, goods: Goods, chain: Chain | None = None) -> Ranking:
        """The same as far as prices alone decide: if no payment is possible, as if deposit and bounds sufficed."""
        found = self.judge(name, goods, chain)
        if found.outcome != REFUSED:
            return found
        backing = Backing(self.backing[name].reserve, None, None, None)
        return self.view(name).judge(goods, self.caps[name].of(goods), backing, chain or self.chain)

    def purchases(self, name: str) -> list[tuple[Goods, Ranking]]:
        """The outcome for each kind of goods that the gateway wants and is offered."""
        wanted = [goods for goods in (VIDEO, *self.view(name).models) if self.wants(name, goods)]
        found = [(goods, self.judge(name, goods)) for goods in wanted]
        return [(goods, verdict) for goods, verdict in found if verdict.offers]

    def view(self, name: str) -> View:
        """The offers that the gateway sees; one object for all gateways that see the same."""
        found = self._view_of.get(name)
        if found is None:
            found = self._view_of[name] = self._find_view(name)
        return found

    def _find_view(self, name: str) -> View:
        search, account = self.searches[name], self.account[name] or ""
        special = self.special.get(account, {})
        key = (search.listed, search.registry, id(search.dropped), id(search.unsure), account if special else "")
        if key not in self._views:
            self._views[key] = self._new_view(search, special)
        return self._views[key]

    def _new_view(self, search: Search, special: dict[tuple[str, Goods], PriceEntry | None]) -> View:
        if search.listed is not None:
            sellers = [seller for seller in search.listed if seller not in search.dropped]
            own = [special.get((s, goods), entry) for s in sellers for goods, entry in self._sold[s].items()]
            return View({}, {}, [entry for entry in own if entry])
        gone = {(seller, goods) for seller in search.dropped for goods in self.offers[seller]}.union(special)
        without: dict[Goods, list[PriceEntry]] = {}
        for seller, goods in sorted(gone):
            if goods in self.offers[seller] and not search.finds(seller):
                without.setdefault(goods, []).append(self.offers[seller][goods])
        own = [entry for (seller, _), entry in special.items() if not search.why_not(seller)]
        shared, unsure = self._shared_by(search.registry), self._shared_by(search.registry, search.unsure)
        return View(shared, without, [entry for entry in own if entry], search.unsure, unsure)

    def _shared_by(self, registry: str | None, only: frozenset[str] | None = None) -> dict[Goods, Ranked]:
        """The offers visible to everybody who searches a registry; all offers for None. `only` of some sellers."""
        if (registry, id(only)) not in self._shared:
            by_goods: dict[Goods, list[PriceEntry]] = {}
            for seller, offers in self.offers.items():
                if registry in (None, self._registries[seller]) and (only is None or seller in only):
                    for goods, entry in offers.items():
                        by_goods.setdefault(goods, []).append(entry)
            self._shared[registry, id(only)] = {goods: Ranked(found) for goods, found in by_goods.items()}
        return self._shared[registry, id(only)]


@once_for_all
def market_of(fleet: Fleet) -> Market:
    """The market of a fleet: several rules ask about it."""
    return Market(fleet)


def matrix(fleet: Fleet) -> Matrix:
    """Every gateway of the fleet against every offer of the fleet; empty off-chain."""
    if not fleet.on_chain:
        return Matrix((), ())
    market = market_of(fleet)
    offers = [
        (seller, goods)
        for seller, sold in sorted(market.offers.items())
        for goods in sorted(sold, key=lambda goods: (goods != VIDEO, goods))
    ]
    cells = None
    if len(fleet.gateways) <= CELL_GATEWAYS and len(offers) <= CELL_OFFERS:
        cells = tuple(market.cell(name, seller, goods) for name in market.caps for seller, goods in offers)
    return Matrix(cells, tuple(summary for name in market.caps for summary in _summaries(market, name)))


def _summaries(market: Market, name: str) -> list[Summary]:
    found = market.purchases(name)
    kinds = (("video", [v for goods, v in found if goods == VIDEO]), ("models", [v for g, v in found if g != VIDEO]))
    return [_summary(name, kind, verdicts) for kind, verdicts in kinds if verdicts]


def _summary(name: str, kind: str, verdicts: list[Ranking]) -> Summary:
    offers, within, above, refused = (sum(column) for column in zip(*(v[1:5] for v in verdicts), strict=True))
    cheapest = _of_one_unit([v.cheapest for v in verdicts if v.within])
    dearest = _of_one_unit([v.dearest for v in verdicts])
    return Summary(
        name, kind, offers, within, above, refused,
        min(cheapest, key=lambda entry: entry.sent or 0, default=None),
        max(dearest, key=lambda entry: entry.sent or 0, default=None),
    )  # fmt: skip


def _of_one_unit(entries: list[PriceEntry | None]) -> list[PriceEntry]:
    found = [entry for entry in entries if entry is not None]
    unit = one_unit({entry.unit for entry in found})
    return [entry for entry in found if entry.unit == unit]
