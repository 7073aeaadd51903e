"""Who could sell what to whom in a fleet, at which price and under which cap.

In: a sound `Fleet`. Out: a `Market`, which answers for a gateway what it can get, and `Payers`, which answer for an
orchestrator who would pay. Prices compare exactly and only within one currency; where currencies differ the answer
is "nobody knows". Building it is linear in the fleet but for sorting distinct prices. Called by the rules about prices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from compiler.diagnostics import Path
from compiler.model import effective
from compiler.model.fleet import Fleet, Node
from compiler.model.gateway import Gateway
from compiler.model.orchestrator import Orchestrator
from compiler.quantities import Price

Goods = tuple[str, str]
"""What is sold: VIDEO, or the pipeline and id of a model."""
VIDEO: Goods = ("video", "")


class Entry(NamedTuple):
    """A price that `owner` asks or pays for `goods`, and where it is written; None stands for any price."""

    owner: str
    goods: Goods
    price: Price | None
    path: Path


class Verdict(NamedTuple):
    """What a gateway can get: `state` is nothing, met, unknown or too-dear; `entry` is the cheapest offer, if any."""

    state: str
    entry: Entry | None = None


Skip = Callable[[Entry], bool]


@lru_cache(maxsize=65536)
def _per_pixel(price: Price) -> Fraction | int:
    """The exact price of one pixel; whole amounts as an integer, which compares much faster."""
    exact = price.per_pixel
    return exact.numerator if exact.denominator == 1 else exact


class Ranked:
    """Entries by currency, the lowest price first, or the highest."""

    def __init__(self, entries: Iterable[Entry], highest_first: bool = False) -> None:
        groups: dict[str, dict[Price, list[Entry]]] = {}
        self._any: list[Entry] = []
        for entry in entries:
            if entry.price is None:
                self._any.append(entry)
            else:
                groups.setdefault(entry.price.currency, {}).setdefault(entry.price, []).append(entry)
        self._groups = {
            currency: [found[price] for price in sorted(found, key=_per_pixel, reverse=highest_first)]
            for currency, found in groups.items()
        }

    def best(self, currency: str, skip: Skip) -> Entry | None:
        """The first entry in the currency that is not skipped."""
        return next((e for group in self._groups.get(currency, ()) for e in group if not skip(e)), None)

    def beyond(self, currency: str, skip: Skip) -> Entry | None:
        """An entry that says nothing in this currency: in another one, or any price."""
        if any_price := next((entry for entry in self._any if not skip(entry)), None):
            return any_price
        others = (other for other in self._groups if other != currency)
        return next((found for other in others if (found := self.best(other, skip))), None)

    def judge(self, cap: Price, skip: Skip) -> Verdict:
        """Whether something here is to be had for the cap; for entries with the lowest price first."""
        entry = self.best(cap.currency, skip)
        if entry is not None and entry.price is not None and _per_pixel(entry.price) <= _per_pixel(cap):
            return Verdict("met", entry)
        if self.beyond(cap.currency, skip):
            return Verdict("unknown")
        return Verdict("too-dear", entry) if entry else Verdict("nothing")


class Caps(NamedTuple):
    """What one gateway pays at most: for single models, for whole pipelines, and for all else."""

    models: dict[Goods, Entry]
    pipelines: dict[str, Entry]
    base: Entry

    def of(self, goods: Goods) -> Entry:
        """The cap for some goods."""
        return self.models.get(goods) or self.pipelines.get(goods[0]) or self.base


def caps_of(fleet: Fleet, name: str, gateway: Gateway) -> Caps:
    """The caps of a gateway in the order in which the node looks them up: model, pipeline, base."""
    soft = gateway.ignore_max_price_if_needed is True
    path: Path = ("gateways", name, "max_price")
    base = gateway.max_price if isinstance(gateway.max_price, Price) and not soft else None
    caps = Caps({}, {}, Entry(name, VIDEO, base, path))
    for key, price in sorted(gateway.max_model_prices.items()):
        model = fleet.models.get(key)
        goods = (model.pipeline, model.id) if model else (key, "")
        entry = Entry(name, goods, None if soft else price, ("gateways", name, "max_model_prices", key))
        if model:
            caps.models[goods] = entry
        else:
            caps.pipelines[key] = entry
    return caps


class Models(NamedTuple):
    """Models on offer: all offers, the cheapest first; and the cheapest offer of each model, the dearest model first.

    A model that is sold in several currencies has no cheapest offer.
    """

    offers: Ranked
    floors: Ranked


def _models(sellers: Iterable[Mapping[Goods, Entry]]) -> Models:
    entries = [entry for offers in sellers for goods, entry in offers.items() if goods != VIDEO]
    floors: dict[Goods, Entry | None] = {}
    for entry in entries:
        floor = floors.setdefault(entry.goods, entry)
        if floor is None or floor.price is None or entry.price is None:
            continue
        if floor.price.currency != entry.price.currency:
            floors[entry.goods] = None
        elif _per_pixel(entry.price) < _per_pixel(floor.price):
            floors[entry.goods] = entry
    return Models(Ranked(entries), Ranked((e for e in floors.values() if e is not None), highest_first=True))


class Market:
    """The offers and caps of a fleet on a chain."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.caps = {name: caps_of(fleet, name, gateway) for name, gateway in fleet.gateways.items()}
        self.special: dict[str, dict[str, Entry]] = {}
        self.special_of: dict[str, dict[str, Entry]] = {}
        self._take_special_prices()
        self.offers: dict[str, dict[Goods, Entry]] = {}
        for node in fleet.nodes:
            if isinstance(node.settings, Orchestrator):
                self.offers[node.name] = _offers(fleet, node, node.settings)
        self._sold: dict[Goods, Ranked] = {goods: Ranked(found) for goods, found in self._by_goods().items()}
        self._models = _models(self.offers.values())

    def _take_special_prices(self) -> None:
        accounts: dict[str, list[str]] = {}
        for name, gateway in self._fleet.gateways.items():
            if gateway.wallet is not None:
                accounts.setdefault(str(self._fleet.wallets[gateway.wallet].address).lower(), []).append(name)
        for seller, orchestrator in self._fleet.orchestrators.items():
            for key, price in orchestrator.gateway_prices.items():
                entry = Entry(seller, VIDEO, price, ("orchestrators", seller, "gateway_prices", key))
                for name in accounts.get(key.lower(), ()) if key.startswith("0x") else (key,):
                    self.special.setdefault(name, {})[seller] = entry
                    self.special_of.setdefault(seller, {})[name] = entry

    def _by_goods(self) -> dict[Goods, list[Entry]]:
        found: dict[Goods, list[Entry]] = {}
        for offers in self.offers.values():
            for goods, entry in offers.items():
                found.setdefault(goods, []).append(entry)
        return found

    def judge(self, name: str, goods: Goods, cap: Entry) -> Verdict:
        """What the gateway can get of these goods under a cap."""
        if cap.price is None:
            return Verdict("met")
        special = self.special.get(name, {}) if goods == VIDEO else {}
        listed = self.listed(name)
        if listed is None:
            seen = Ranked(entry for seller, entry in special.items() if VIDEO in self.offers[seller])
            return _better(
                seen.judge(cap.price, _none),
                self._sold.get(goods, _NOTHING).judge(cap.price, lambda entry: entry.owner in special),
            )
        mine = (special.get(seller) or self.offers[seller][goods] for seller in listed if goods in self.offers[seller])
        return Ranked(mine).judge(cap.price, _none)

    def listed(self, name: str) -> tuple[str, ...] | None:
        """The orchestrators of this fleet that the gateway lists; None when it finds them in another way."""
        gateway = self._fleet.gateways[name]
        if not gateway.orchestrators:
            return None
        return tuple(seller for seller in gateway.orchestrators if seller in self._fleet.orchestrators)

    def closed(self, name: str) -> bool:
        """Whether the gateway can use nobody but orchestrators of this fleet."""
        listed = self.listed(name)
        return listed is not None and len(listed) == len(self._fleet.gateways[name].orchestrators)

    def models_for(self, name: str) -> Models:
        """The models that the gateway can find."""
        listed = self.listed(name)
        return self._models if listed is None else _models(self.offers[seller] for seller in listed)


_NOTHING = Ranked(())


def _none(entry: Entry) -> bool:
    return False


def _better(one: Verdict, other: Verdict) -> Verdict:
    """Two parts of a market in one: somebody within the cap anywhere is enough."""
    for state in ("met", "unknown"):
        for verdict in (one, other):
            if verdict.state == state:
                return verdict
    if one.entry and other.entry and one.entry.price and other.entry.price:
        return one if _per_pixel(one.entry.price) <= _per_pixel(other.entry.price) else other
    return one if one.entry else other


def _offers(fleet: Fleet, node: Node, orchestrator: Orchestrator) -> dict[Goods, Entry]:
    """What an orchestrator sells. A model without a price of its own, or with zero, is sold at the base price."""
    offers: dict[Goods, Entry] = {}
    base = orchestrator.price
    path = (*node.path, "price")
    if effective.serves_video(node) and base is not None:
        offers[VIDEO] = Entry(node.name, VIDEO, base, path)
    if not effective.serves_ai(node):
        return offers
    for index, use in enumerate(orchestrator.models):
        model = fleet.models[use.use]
        own = effective.model_price(fleet, node, index, use)
        goods = (model.pipeline, model.id)
        if own is not None and not (own.value.is_zero and base is not None):
            offers[goods] = Entry(node.name, goods, own.value, own.origin.paths[0])
        elif base is not None:
            offers[goods] = Entry(node.name, goods, base, path)
    return offers


class Payers:
    """The gateways of a fleet as the orchestrators see them: who lists them, and what the others pay at most."""

    def __init__(self, fleet: Fleet, market: Market) -> None:
        self._market = market
        self._listing: dict[str, list[Node]] = {}
        self._open: list[Node] = []
        for node in fleet.nodes:
            if isinstance(node.settings, Gateway):
                for seller in set(market.listed(node.name) or ()):
                    self._listing.setdefault(seller, []).append(node)
                if not node.settings.orchestrators:
                    self._open.append(node)
        video = [n for n in self._open if effective.serves_video(n)]
        ai = [n for n in self._open if effective.serves_ai(n)]
        self._open_video = {n.name for n in video}
        self._caps = {"video": Ranked((market.caps[n.name].base for n in video), highest_first=True)}
        for pipeline in {goods[0] for offers in market.offers.values() for goods in offers if goods != VIDEO}:
            entries = (market.caps[n.name].of((pipeline, "")) for n in ai)
            self._caps[pipeline] = Ranked(entries, highest_first=True)
        self._explicit: dict[Goods, dict[str, Entry]] = {}
        for node in ai:
            for goods, entry in market.caps[node.name].models.items():
                self._explicit.setdefault(goods, {})[node.name] = entry
        self._remembered: dict[tuple[Goods, str], tuple[Entry, ...] | None] = {}
        self._ranked = {goods: Ranked(caps.values(), highest_first=True) for goods, caps in self._explicit.items()}

    def highest(self, seller: str, goods: Goods, price: Price) -> Entry | None:
        """The highest cap for these goods when every gateway that could use the seller pays less than its price.

        None when somebody would pay, when caps do not compare, or when no gateway of the fleet could use the seller.
        """
        special: Mapping[str, Entry] = self._market.special_of.get(seller, {}) if goods == VIDEO else {}
        caps: list[Entry] = []
        for node in self._listing.get(seller, ()):
            if effective.serves_video(node) if goods == VIDEO else effective.serves_ai(node):
                asked = special.get(node.name)
                cap = self._market.caps[node.name].of(goods)
                if _pays(cap, asked.price if asked and asked.price else price):
                    return None
                caps.append(cap)
        for name in sorted(self._open_video.intersection(special)):
            cap, asked = self._market.caps[name].of(goods), special[name]
            if asked.price and _pays(cap, asked.price):
                return None
            caps.append(cap)
        others = self._highest_of_searchers(goods, price.currency, special)
        if others is None or any(_pays(cap, price) for cap in others):
            return None
        caps += others
        return max(caps, key=lambda cap: _per_pixel(cap.price) if cap.price else 0, default=None)

    def _highest_of_searchers(
        self, goods: Goods, currency: str, special: Mapping[str, Entry]
    ) -> tuple[Entry, ...] | None:
        """The highest caps of gateways that look for orchestrators themselves, but for those in `special`.

        None when one of them has no bound in the currency. Remembered, as many sellers ask for the same.
        """
        if not special and (goods, currency) in self._remembered:
            return self._remembered[goods, currency]
        explicit = self._explicit.get(goods, {})

        def settled(entry: Entry) -> bool:
            return entry.owner in explicit or entry.owner in special

        parts = ((self._ranked.get(goods, _NOTHING), _none), (self._caps.get(goods[0], _NOTHING), settled))
        found: tuple[Entry, ...] | None = None
        if not any(ranked.beyond(currency, skip) for ranked, skip in parts):
            found = tuple(cap for ranked, skip in parts if (cap := ranked.best(currency, skip)) is not None)
        if not special:
            self._remembered[goods, currency] = found
        return found


def _pays(cap: Entry, price: Price) -> bool:
    """Whether the cap admits the price, as far as anybody can tell."""
    return cap.price is None or cap.price.currency != price.currency or _per_pixel(price) <= _per_pixel(cap.price)
