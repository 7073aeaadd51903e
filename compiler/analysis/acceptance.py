"""The node's acceptance rule: does a gateway with this cap buy at this offer? The one home of that question.

In: prices as the spec has them, the stated rates, and one gateway or orchestrator. Out: `Entry` values with exact
amounts for one pixel, and a `Decision` on a pair of them. Called by the other files here that sum up prices,
by the rules about single prices, and by reviews of them.

A gateway behind a remote signer has the caps of that signer, which refuses to pay for what is above them. The caps of a
signer elsewhere are not known.

What the node does: it takes the cap of the exact model, else the one of its pipeline, else the base cap; the price for
the gateway's account, else the one for everybody; for a model the base price where its own is missing or zero. With
automatic adjustment, the default, a price is sent with three decimals of a wei, the rest cut off, and at most
(2^63-1)/1000 wei; without it numerator and denominator must fit in 64 bits. The gateway buys at the cap or below.

Not included: the cost of redeeming tickets, which automatic adjustment adds to a price while the node runs. How much
that is depends on the gas price of the hour, so an offer near the cap may in fact be too dear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from compiler.diagnostics import Path
from compiler.model import effective
from compiler.model.fleet import Fleet, Node
from compiler.model.gateway import Buyer, Gateway
from compiler.model.orchestrator import Orchestrator
from compiler.model.signing import account_of, payer
from compiler.model.worker import AiWorker
from compiler.quantities import Price, Wei

Goods = tuple[str, str]
"""What is sold: VIDEO, or the pipeline and id of a model."""
VIDEO: Goods = ("video", "")

BUYS, TOO_DEAR, UNKNOWN, NOT_OFFERED, NOT_ASKED = "buys", "too dear", "unknown", "not offered", "not asked"
"""What can come of a gateway, an orchestrator and some goods; unknown: in currencies that no rate compares."""

ELSEWHERE = "elsewhere"
"""The unit of a cap that a signer elsewhere has; no currency has lower-case letters but wei."""

_DECIMALS = 1000
_INT64 = 2**63 - 1
_WEI = "wei"

Amount = Fraction | int
"""An exact amount for one pixel; whole ones as an integer, which compares much faster."""


class Entry(NamedTuple):
    """A price that `owner` asks or pays for `goods`, and where it is written; None stands for any price.

    `worth` is what one pixel costs in `unit`: wei where that is known, else the currency as written. A cap in the unit
    ELSEWHERE is that of a signer elsewhere, and nobody here knows it.
    """

    owner: str
    goods: Goods
    price: Price | None
    path: Path
    unit: str = ""
    worth: Amount = 0

    @property
    def unbounded(self) -> bool:
        """Whether this cap admits every price."""
        return self.price is None and self.unit != ELSEWHERE


class Decision(NamedTuple):
    """What comes of a cap and an offer; `over` is how many percent too dear the offer is."""

    outcome: str
    over: Fraction | None = None


def decide(cap: Entry, offer: Entry | None) -> Decision:
    """Whether the gateway buys. An offer of nothing is within every cap, whatever the currencies."""
    if offer is None:
        return Decision(NOT_OFFERED)
    if cap.unbounded or not offer.worth:
        return Decision(BUYS)
    if cap.unit != offer.unit:
        return Decision(UNKNOWN)
    if offer.worth <= cap.worth:
        return Decision(BUYS)
    return Decision(TOO_DEAR, Fraction(offer.worth - cap.worth) * 100 / Fraction(cap.worth))


def advertised(exact: Amount, adjusts: bool) -> Amount | None:
    """The price in wei as the node sends it, or None when it cannot send it."""
    if not adjusts:
        return exact if exact.numerator <= _INT64 and exact.denominator <= _INT64 else None
    if isinstance(exact, int) and exact * _DECIMALS <= _INT64:
        return exact
    return _simple(Fraction(min(exact * _DECIMALS // 1, _INT64), _DECIMALS))


def adjusts(orchestrator: Orchestrator) -> bool:
    """Whether the orchestrator's node adjusts its prices."""
    return orchestrator.auto_adjust_price is not False


class Scale:
    """Turns prices into comparable amounts by the rates that the spec states. No rate is ever guessed."""

    def __init__(self, rates: Mapping[str, Wei]) -> None:
        self._rates = {_WEI: 1, **{currency: rate.wei for currency, rate in rates.items()}}
        self._known: dict[Price, tuple[str, Amount]] = {}

    def of(self, price: Price) -> tuple[str, Amount]:
        """The exact amount for one pixel, in wei where a rate is stated, with its unit."""
        known = self._known.get(price)
        if known is None:
            rate = self._rates.get(price.currency)
            exact = price.per_pixel
            known = (price.currency, _simple(exact)) if rate is None else (_WEI, _simple(exact * rate))
            self._known[price] = known
        return known

    def cap(self, owner: str, goods: Goods, price: Price | None, path: Path) -> Entry:
        """A cap; the node compares it exactly as it is."""
        return Entry(owner, goods, price, path, *self.of(price)) if price else Entry(owner, goods, None, path)

    def offer(self, owner: str, goods: Goods, price: Price, path: Path, adjusted: bool) -> Entry | None:
        """An offer as the node sends it, or None when it cannot. What is not known in wei stays as it is written."""
        unit, exact = self.of(price)
        sent = advertised(exact, adjusted) if unit == _WEI else exact
        return None if sent is None else Entry(owner, goods, price, path, unit, sent)


def _simple(exact: Fraction) -> Amount:
    return exact.numerator if exact.denominator == 1 else exact


class Caps(NamedTuple):
    """What one gateway pays at most: for single models, for whole pipelines, and for all else."""

    models: dict[Goods, Entry]
    pipelines: dict[str, Entry]
    base: Entry

    def of(self, goods: Goods) -> Entry:
        """The cap for some goods, in the order in which the node looks for one."""
        return self.models.get(goods) or self.pipelines.get(goods[0]) or self.base


def caps_of(fleet: Fleet, scale: Scale, node: Node) -> Caps:
    """The caps that count for a gateway or a signer. With `ignore_max_price_if_needed` none of them is a bound."""
    name, paying = node.name, payer(fleet, node)
    if paying is None:
        return Caps({}, {}, Entry(name, VIDEO, None, (*node.path, "remote_signer"), ELSEWHERE))
    buyer = paying.settings
    assert isinstance(buyer, Buyer)  # noqa: S101  # gateways and signers are, for the type checker
    soft = isinstance(buyer, Gateway) and buyer.ignore_max_price_if_needed is True
    base = buyer.max_price if isinstance(buyer.max_price, Price) and not soft else None
    caps = Caps({}, {}, scale.cap(name, VIDEO, base, (*paying.path, "max_price")))
    for key, price in sorted(buyer.max_model_prices.items()):
        model = fleet.models.get(key)
        goods = (model.pipeline, model.id) if model else (key, "")
        entry = scale.cap(name, goods, None if soft else price, (*paying.path, "max_model_prices", key))
        if model:
            caps.models[goods] = entry
        else:
            caps.pipelines[key] = entry
    return caps


def offers_of(fleet: Fleet, scale: Scale, node: Node, orchestrator: Orchestrator) -> dict[Goods, Entry | None]:
    """What an orchestrator sells, at its price for everybody; None where its node cannot send that price."""
    found: dict[Goods, Entry | None] = {}
    base, path, adjusted = orchestrator.price, (*node.path, "price"), adjusts(orchestrator)

    def add(goods: Goods, price: Price | None, where: Path) -> None:
        """Of two entries for the same goods the node keeps the last. One without any price does not let it start."""
        found.pop(goods, None)
        if price:
            found[goods] = scale.offer(node.name, goods, price, where, adjusted)

    if effective.serves_video(node):
        add(VIDEO, base, path)
    if not effective.serves_ai(node):
        return found
    for goods in _run_by_workers(fleet, node):
        add(goods, base, path)
    for index, use in enumerate(orchestrator.models):
        model = fleet.models[use.use]
        own = effective.model_price(fleet, node, index, use)
        if own is not None and not (own.value.is_zero and base is not None):
            add((model.pipeline, model.id), own.value, own.origin.paths[0])
        else:
            add((model.pipeline, model.id), base, path)
    return found


def _run_by_workers(fleet: Fleet, node: Node) -> Iterator[Goods]:
    """Models of remote workers: one that the orchestrator has no price for is sold at its base price."""
    for worker in fleet.workers_by_orchestrator.get(node.name, ()):
        if isinstance(worker.settings, AiWorker):
            for use in worker.settings.models:
                yield fleet.models[use.use].pipeline, fleet.models[use.use].id


def special_offers(
    fleet: Fleet, scale: Scale, node: Node, orchestrator: Orchestrator
) -> Iterator[tuple[str, Goods, Entry | None]]:
    """The offers to single accounts: account in lower case, goods, and the offer or None where it cannot be sent.

    The node knows accounts only: a price for one gateway is the price of all that share its wallet.
    """
    adjusted, base = adjusts(orchestrator), orchestrator.price

    def entries(
        prices: Mapping[str, Price], goods: Goods, *place: str | int
    ) -> Iterator[tuple[str, Goods, Entry | None]]:
        for key, own in sorted(prices.items()):
            price, path = own, (*node.path, *place, "gateway_prices", key)
            if goods != VIDEO and own.is_zero and base is not None:
                price, path = base, (*node.path, "price")
            account = key if key.startswith("0x") else account_of(fleet, key)
            if account:
                yield str(account).lower(), goods, scale.offer(node.name, goods, price, path, adjusted)

    if effective.serves_video(node):
        yield from entries(orchestrator.gateway_prices, VIDEO)
    if effective.serves_ai(node):
        for index, use in enumerate(orchestrator.models):
            model = fleet.models[use.use]
            yield from entries(use.gateway_prices, (model.pipeline, model.id), "models", index)
