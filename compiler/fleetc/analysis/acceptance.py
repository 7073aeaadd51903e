"""The node's acceptance rule: does a gateway with this cap buy this offer? Only this file answers that question.

In: prices from the spec, the stated rates, and one gateway or orchestrator. Out: `PriceEntry` values with exact amounts
per pixel, and a `Decision` on a pair of them. Called by the other files here that calculate with prices, by the rules
about single prices, and by price reviews.

A gateway behind a remote signer has the caps of that signer, which refuses to pay for anything above them. The caps of
a signer outside the fleet are not known.

The node uses the cap of the exact model, else of its pipeline, else the base cap. It uses the price for the gateway's
account, else that for everybody. A model without a price has the base price. With automatic adjustment, the default, it
adds the cost of redeeming a ticket (`tickets.py`): by the gateway's reserve, both settings and the gas price. The
gateway buys at the cap or below, if it can pay at all.

A gateway with unknown funds, such as behind an external signer, is never sure to buy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

from fleetc.analysis import tickets
from fleetc.analysis.prices import base_price, prices_of
from fleetc.analysis.tickets import Amount, Backing, Chain, PriceLimit, PricePair, Terms, Ticket, simple
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Buyer, Gateway
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Price, Wei
from fleetc.language.signing import account_of, has_signer, payer
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Path
from fleetc.upstream import ACTIVE_SET, NETWORKS, REDEMPTION_GAS

Goods = tuple[str, str]
"""What is sold: VIDEO, or the pipeline and id of a model."""
VIDEO: Goods = ("video", "")

BUYS, TOO_EXPENSIVE, REFUSED, UNKNOWN = "buys", "too expensive", "refused", "unknown"
NOT_OFFERED, NOT_ASKED = "not offered", "not asked"
"""The possible outcomes for a gateway, an orchestrator and some goods. Refused: the two can make no ticket. Unknown: in
currencies that no rate compares, or with funds that are not stated."""
NOT_WANTED = "the gateway asks for no such goods"
NO_RATE = "no rate compares the two currencies"
NO_FUNDS = "the funds of its payer are not stated"
NO_CAPS = "caps and funds are those of an external signer"

ELSEWHERE = "elsewhere"
"""The unit of a cap of a signer outside the fleet; no currency except wei has lower-case letters."""
WEI = "wei"
_LEAST_OVERHEAD = Fraction(101, 100)
_DIGITS = 4
"""How many digits a proposed amount has: so few that people can type it."""


class PriceEntry(NamedTuple):
    """A price that `owner` asks or pays for `goods`, and where it is written; None means any price.

    `worth` is the price of one pixel in `unit`: wei if that is known, else the currency as written. An offer has the
    `terms` of its orchestrator, and its worth with overhead as `sent` to one gateway. A cap in the unit ELSEWHERE
    belongs to a signer outside the fleet, and its amount is not known.
    """

    owner: str
    goods: Goods
    price: Price | None
    path: Path
    unit: str = ""
    worth: Amount = 0
    terms: Terms = Terms()
    sent: Amount | None = None

    @property
    def unbounded(self) -> bool:
        """Whether this cap admits every price."""
        return self.price is None and self.unit != ELSEWHERE


class Decision(NamedTuple):
    """The outcome of a cap and an offer.

    `over` is by how many percent the offer is too expensive, `why` the reason if it is refused, unknown or not asked.
    """

    outcome: str
    over: Fraction | None = None
    why: str = ""


def decide(cap: PriceEntry, offer: PriceEntry | None, backing: Backing, chain: Chain) -> Decision:
    """Whether the gateway buys. A free offer is within every cap of any currency, and needs no ticket.

    An offer that is too expensive with the least overhead is too expensive with any funds.
    """
    if offer is None:
        return Decision(NOT_OFFERED)
    if not offer.worth:
        return Decision(BUYS)
    ticket = tickets.ticket(offer.terms, backing, chain)
    asked = quoted(offer, ticket).sent
    if ticket.refusal:
        return Decision(REFUSED, None, ticket.refusal)
    if cap.price is not None and asked:
        if cap.unit != offer.unit:
            return Decision(UNKNOWN, None, NO_RATE)
        if asked > cap.worth:
            return Decision(TOO_EXPENSIVE, Fraction(asked - cap.worth) * 100 / Fraction(cap.worth))
    if backing.known:
        return Decision(BUYS)
    return Decision(UNKNOWN, None, NO_CAPS if cap.unit == ELSEWHERE else NO_FUNDS)


def until(cap: PriceEntry, offer: PriceEntry, backing: Backing, chain: Chain) -> int | None:
    """The gas price in wei below which the two trade, and from which they do not; None if there is none nearby."""
    if not offer.worth or not backing.known or (cap.price and cap.unit != offer.unit):
        return None
    most = cap.worth if cap.price else None
    return tickets.gas_limit(PricePair(offer.worth, most, offer.terms, backing, offer.unit == WEI), chain)


def quoted(offer: PriceEntry, ticket: Ticket) -> PriceEntry:
    """The offer as it reaches a gateway. In a currency that no rate compares, nothing is cut off."""
    if offer.unit == WEI:
        asked = tickets.sent(offer.worth, ticket.overhead, offer.terms.adjusts)
    else:
        asked = simple(offer.worth * ticket.overhead)
    return offer._replace(sent=asked)


def limit(cap: PriceEntry, unit: str, overhead: Fraction, adjusts: bool) -> PriceLimit | None:
    """The base prices in a unit that a cap admits, None for all. In wei some are so low that every cap admits them."""
    if cap.price is None:
        return None
    if unit == WEI:
        return tickets.limit(cap.worth if cap.unit == WEI else 0, overhead, adjusts)
    return PriceLimit(simple(cap.worth / overhead) if cap.unit == unit else 0, True)


def least_advertised(exact: Amount, terms: Terms) -> Amount | None:
    """The price in wei that reaches a gateway with a full reserve, the lowest; None if the node cannot send it."""
    return tickets.sent(exact, _LEAST_OVERHEAD, terms.adjusts)


def arriving(offer: PriceEntry) -> Price:
    """An offer as it reaches the gateway: in wei exactly that price, else rounded up."""
    price, asked = offer.price, offer.sent
    if price is None or asked is None or asked == offer.worth:
        return price or Price(Decimal(0), WEI)
    if price.currency == WEI:
        return Price(_decimal(ceil(asked * 1000), -3), WEI)
    return _near(Fraction(price.amount) * asked / offer.worth, price, up=True)


def enough(offer: PriceEntry) -> Price:
    """A cap that admits an offer as it reaches the gateway: that price, rounded up to a few digits."""
    price, asked = offer.price, offer.sent
    if price is None or price.currency != WEI or not asked or asked == offer.worth:
        return arriving(offer)
    return _near(Fraction(asked), Price(Decimal(0), WEI), up=True)


def at_gas(chain: Chain) -> str:
    """The gas price that an amount assumes, in words."""
    return f"at a gas price of {Wei(chain.gas_price)}"


def coming_to(offer: PriceEntry, chain: Chain, known: bool = True) -> str:
    """The price of an offer for the gateway that it reaches, in words; empty if that is the price as written.

    If the gateway's reserve is not `known`, this is the lowest price.
    """
    if offer.sent is None or offer.sent == offer.worth:
        return ""
    least = "" if known else "at least "
    return f"; {least}{arriving(offer)} with redemption costs (gas at {Wei(chain.gas_price)})"


def affordable(offer: PriceEntry, bound: PriceLimit) -> Price | None:
    """The highest price, or almost, that a limit admits in place of an offer; None if that is nothing."""
    price = offer.price
    if price is None:
        return None
    if price.currency == WEI:
        thousandths = bound.worth * 1000
        most = floor(thousandths) if bound.inclusive else ceil(thousandths) - 1
        return _near(Fraction(most, 1000), Price(Decimal(0), WEI), up=False) if most > 0 else None
    below = Fraction(price.amount) * bound.worth / offer.worth
    return _near(below, price, up=False, itself=bound.inclusive) if below else None


def _near(amount: Fraction, price: Price, up: bool, itself: bool = True) -> Price:
    """A price for the same number of pixels with few digits: not below the amount, or not above it.

    `itself` is whether it may be the amount where that has so few digits.
    """
    shift = _DIGITS - len(str(int(amount))) if amount >= 1 else _DIGITS + len(str(int(1 / amount)))
    scaled = amount * Fraction(10) ** shift
    digits = ceil(scaled) if up else floor(scaled) if itself else ceil(scaled) - 1
    return Price(_decimal(digits, -shift), price.currency, price.pixels)


def gas_below(until: int) -> str:
    """A gas price below which two trade, in words: with few digits, and never above the exact one."""
    cut = 10 ** max(0, len(str(until)) - _DIGITS)
    return f"{'about ' if until % cut else ''}{Wei(until // cut * cut)}"


def _decimal(digits: int, exponent: int) -> Decimal:
    """Exactly this many, in any decimal context."""
    return Decimal(f"{digits}e{exponent}")


def terms_of(fleet: Fleet, orchestrator: Orchestrator) -> Terms:
    """The settings that an orchestrator's node uses for its tickets."""
    defaults = Terms()
    ev, face = orchestrator.ticket_ev, orchestrator.max_face_value
    return Terms(
        orchestrator.auto_adjust_price is not False,
        defaults.ticket_ev if ev is None else ev.wei,
        0 if face is None else face.wei,
        effective.min_gas_price(fleet, orchestrator),
    )


def chain_of(fleet: Fleet) -> Chain:
    """The assumed state of the chain: the stated gas price, and a full active set."""
    network = NETWORKS.get(fleet.fleet.network)
    gas = network.redemption_gas if network else REDEMPTION_GAS
    return Chain(effective.gas_price(fleet).value.wei, gas, ACTIVE_SET)


class Scale:
    """Converts prices into comparable amounts by the rates that the spec states. It never guesses a rate."""

    def __init__(self, rates: Mapping[str, Wei]) -> None:
        self._rates = {WEI: 1, **{currency: rate.wei for currency, rate in rates.items()}}
        self._known: dict[Price, tuple[str, Amount]] = {}

    def of(self, price: Price) -> tuple[str, Amount]:
        """The exact amount per pixel with its unit, in wei if a rate is stated."""
        known = self._known.get(price)
        if known is None:
            rate = self._rates.get(price.currency)
            exact = price.per_pixel
            known = (price.currency, simple(exact)) if rate is None else (WEI, simple(exact * rate))
            self._known[price] = known
        return known

    def cap(self, owner: str, goods: Goods, price: Price | None, path: Path) -> PriceEntry:
        """A cap; the node compares it exactly."""
        return PriceEntry(owner, goods, price, path, *self.of(price)) if price else PriceEntry(owner, goods, None, path)

    def offer(self, owner: str, goods: Goods, price: Price, path: Path, terms: Terms) -> PriceEntry | None:
        """An offer without its overhead, or None if the node cannot send it."""
        unit, exact = self.of(price)
        if unit == WEI and least_advertised(exact, terms) is None:
            return None
        return PriceEntry(owner, goods, price, path, unit, exact, terms)


class Caps(NamedTuple):
    """The most that one gateway pays: for single models, for whole pipelines, and for everything else."""

    models: dict[Goods, PriceEntry]
    pipelines: dict[str, PriceEntry]
    base: PriceEntry

    def of(self, goods: Goods) -> PriceEntry:
        """The cap for some goods, in the node's lookup order."""
        return self.models.get(goods) or self.pipelines.get(goods[0]) or self.base


def caps_of(fleet: Fleet, scale: Scale, node: Node) -> Caps:
    """The caps that apply to a gateway or a signer. With `ignore_max_price_if_needed` none of them is a bound."""
    name, paying = node.name, payer(fleet, node)
    if paying is None:
        return Caps({}, {}, PriceEntry(name, VIDEO, None, (*node.path, "remote_signer"), ELSEWHERE))
    buyer = paying.settings
    assert isinstance(buyer, Buyer)  # noqa: S101  # gateways and signers are, for the type checker
    soft = isinstance(buyer, Gateway) and buyer.ignore_max_price_if_needed is True
    base = base_price(fleet, paying)
    bound = base.price if base is not None and not soft else None
    caps = Caps({}, {}, scale.cap(name, VIDEO, bound, (*paying.path, "max_price")))
    for cap in sorted((cap for cap in prices_of(fleet, paying) if cap.work), key=lambda price: price.work):
        model = fleet.models.get(cap.work)
        goods = (model.pipeline, model.id) if model else (cap.work, "")
        entry = scale.cap(name, goods, None if soft else cap.price, cap.path)
        if model:
            caps.models[goods] = entry
        else:
            caps.pipelines[cap.work] = entry
    return caps


def offers_of(fleet: Fleet, scale: Scale, node: Node, orchestrator: Orchestrator) -> dict[Goods, PriceEntry | None]:
    """What an orchestrator sells, at its price for everybody; None if its node cannot send that price."""
    found: dict[Goods, PriceEntry | None] = {}
    base, path, terms = orchestrator.price, (*node.path, "price"), terms_of(fleet, orchestrator)
    own = {price.at: price for price in prices_of(fleet, node) if price.work and not price.to}

    def add(goods: Goods, price: Price | None, where: Path) -> None:
        """Of two entries for the same goods the node keeps the last. It does not start if one has no price."""
        found.pop(goods, None)
        if price:
            found[goods] = scale.offer(node.name, goods, price, where, terms)

    if effective.serves_video(node):
        add(VIDEO, base, path)
    if not effective.serves_ai(node):
        return found
    for goods in _run_by_workers(fleet, node):
        add(goods, base, path)
    for index, use in enumerate(orchestrator.models):
        model = fleet.models[use.use]
        asked = own.get(index)
        if asked is not None and asked.price is not None and not (asked.price.is_zero and base is not None):
            add((model.pipeline, model.id), asked.price, asked.path)
        else:
            add((model.pipeline, model.id), base, path)
    return found


def _run_by_workers(fleet: Fleet, node: Node) -> Iterator[Goods]:
    """Models of remote workers: a model without a price at the orchestrator is sold at the base price."""
    for worker in fleet.workers_by_orchestrator.get(node.name, ()):
        if isinstance(worker.settings, AiWorker):
            for use in worker.settings.models:
                yield fleet.models[use.use].pipeline, fleet.models[use.use].id


def special_offers(
    fleet: Fleet, scale: Scale, node: Node, orchestrator: Orchestrator
) -> Iterator[tuple[str, Goods, PriceEntry | None]]:
    """The offers to single accounts: account in lower case, goods, and the offer or None if it cannot be sent.

    Prices are by account: a price for one gateway applies to all with the same wallet.
    """
    terms, base = terms_of(fleet, orchestrator), orchestrator.price
    special_prices = [price for price in prices_of(fleet, node) if price.to]
    for special in sorted(special_prices, key=lambda price: (price.at, price.to)):
        model = fleet.models[special.work] if special.work else None
        if special.price is None or not (effective.serves_ai(node) if model else effective.serves_video(node)):
            continue
        goods, price, path = (model.pipeline, model.id) if model else VIDEO, special.price, special.path
        if model and price.is_zero and base is not None:
            price, path = base, (*node.path, "price")
        account = special.to if special.to.startswith("0x") else account_of(fleet, special.to)
        if account:
            yield str(account).lower(), goods, scale.offer(node.name, goods, price, path, terms)


def backing_of(fleet: Fleet, node: Node) -> Backing:
    """The funds behind a gateway's tickets: the wallet and the limits of the node that pays for it."""
    paying, defaults = payer(fleet, node), Backing(None, None)
    nonces = tickets.SIGNED_NONCES if has_signer(node) else tickets.NONCES
    if paying is None or not isinstance(paying.settings, Buyer):
        return Backing(None, None, None, None, nonces=nonces)
    wallet = fleet.wallets[paying.settings.wallet] if paying.settings.wallet is not None else None
    bounds = paying.settings.tickets
    return Backing(
        wallet.reserve.wei if wallet and wallet.reserve is not None else None,
        wallet.deposit.wei if wallet and wallet.deposit is not None else None,
        defaults.max_ev if bounds.max_ev is None else bounds.max_ev.wei,
        defaults.max_total_ev if bounds.max_total_ev is None else bounds.max_total_ev.wei,
        defaults.multiplier if bounds.deposit_multiplier is None else bounds.deposit_multiplier,
        nonces,
    )
