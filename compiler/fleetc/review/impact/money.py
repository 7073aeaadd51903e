"""What a change does to prices, to who can buy what from whom, and to how long deposits last.

In: two fleets and the nodes that changed. Out: `Fact`s of price and funds. Called by `effects.py`. Prices compare
exactly, for one pixel, in wei if the spec has a rate; off-chain there are none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from fleetc.analysis.acceptance import BUYS, UNKNOWN, VIDEO, Goods, Scale, gas_below
from fleetc.analysis.discovery import registrations
from fleetc.analysis.economics import Cell, Market, market_of
from fleetc.analysis.funds import Funds, funds
from fleetc.analysis.prices import prices_of, sold_at_base
from fleetc.analysis.tickets import Amount
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import ANY_PRICE, WEI_IN_ETHER, Price, price_in_words
from fleetc.lower.common import account
from fleetc.lower.market_words import hours_text, number_text, percent_text
from fleetc.review.impact.facts import Fact, node_of

UNBOUNDED = Decimal(100)
"""Percent that a limit counts where a price comes, goes, loses its bound or cannot be compared."""

_PAIRS = 200_000
"""Up to so many pairs of gateway and orchestrator each is judged; beyond that only how much a gateway reaches."""


def trade(
    old: Fleet | None, new: Fleet | None, names: Iterable[str], rates: bool, unknown: Collection[str]
) -> Iterator[Fact]:
    """All facts of price and funds about some nodes; about all of them where a rate was changed.

    `unknown` are nodes of which nobody can tell whether their process stops.
    """
    nodes = list(names)
    before, after = (fleet if fleet is not None and fleet.on_chain else None for fleet in (old, new))
    if before is None and after is None:
        return
    yield from _prices(before, after, nodes)
    yield from _purchases(before, after, nodes, rates, unknown)
    yield from _funds(before, after)


# --- prices ---------------------------------------------------------------------------------------


class Quote(NamedTuple):
    """A price of a node, with hints at the flags that carry it; None is any price.

    `entry` is the pipeline and model that the node knows the work by, which can change under the same name in a spec.
    `of_base` is whether the work has no price, so that the node asks its base price for it.
    """

    price: Price | None
    hints: tuple[str, ...]
    entry: str = ""
    of_base: bool = False


class Deal(NamedTuple):
    """What a price of a node is for: whether the node `pays` it, and for what and whom, as the end of a sentence."""

    pays: bool
    object: str

    def said(self, amount: str) -> str:
        """The deal at an amount, in words."""
        return f"{price_in_words(self.pays, amount)}{self.object}"


def quotes(fleet: Fleet | None, name: str) -> dict[Deal, Quote]:
    """Every price that a node asks or pays, by what it is for."""
    node = node_of(fleet, name)
    quoted: dict[Deal, Quote] = {}
    if fleet is None or node is None:
        return quoted
    for price in prices_of(fleet, node):
        what = ""
        entry = _entry(fleet, price.work)
        if price.work:
            what = f" for {price.work}"
            hints = _leaf(entry, "prices.json" if price.pays else "aiModels.json")
        else:
            hints = ("-maxPricePerUnit" if price.pays else "-pricePerUnit", "-pixelsPerUnit")
        if price.to:
            buyer = account(fleet, price.to)  # the node knows accounts only, so another account is another price
            what += f" of account {buyer}"
            hints = hints if price.work else (f"prices.json: {buyer}", "prices.json")
        quoted[Deal(price.pays, what)] = Quote(price.price, hints, entry)
    for sold in sold_at_base(fleet, node):
        entry = _entry(fleet, sold.model)
        hints = (*_leaf(entry, "aiModels.json"), "-aiModels", "-pricePerUnit", "-pixelsPerUnit")
        quoted[Deal(False, f" for {sold.model}")] = Quote(sold.base, hints, entry, True)
    return quoted


def _entry(fleet: Fleet, key: str) -> str:
    """The pipeline and model of a model's or pipeline's name; empty for the base price."""
    model = fleet.models.get(key)
    return f"{model.pipeline} {model.id}" if model else key and f"{key} default"


def _leaf(entry: str, file: str) -> tuple[str, ...]:
    """Hints at the entry of a model or pipeline in a file."""
    return (f"{file}: {entry} price_per_unit", f"{file}: {entry}", file)


def _prices(old: Fleet | None, new: Fleet | None, names: list[str]) -> Iterator[Fact]:
    scales = [Scale(fleet.rates if fleet else {}) for fleet in (old, new)]
    for name in names:
        before, after = quotes(old, name), quotes(new, name)
        for deal in [*after, *(deal for deal in before if deal not in after)]:
            there, here = before.get(deal), after.get(deal)
            same = there is None or here is None or there.entry == here.entry
            if there and here and same and _worth(there, scales[0]) == _worth(here, scales[1]):
                continue
            hints = (here or there or Quote(None, ())).hints
            if node_of(old, name) is None or node_of(new, name) is None:
                verb = "" if here else "no longer "
                text, amount = f"{verb}{deal.said(_price(here or there))}", UNBOUNDED
            elif there and here and not same:
                text = f"{deal.said(_price(here))} ({here.entry}) instead of {_price(there)} ({there.entry})"
                amount = UNBOUNDED
            else:
                text, amount = _change(deal, there, here, scales)
            yield Fact("price", name, text, amount, hints, headline=f"{name} {text}")


def _worth(quote: Quote, scale: Scale) -> tuple[str, Amount] | None:
    return None if quote.price is None else scale.of(quote.price)


def _change(deal: Deal, before: Quote | None, after: Quote | None, scales: list[Scale]) -> tuple[str, Decimal]:
    own = f"no {'cap' if deal.pays else 'price'} of its own"
    now = f"has {own}{deal.object}" if after is None else deal.said(_price(after))
    most = "at most " if deal.pays and after is not None and after.price is None else ""
    text = f"{now} instead of {own if before is None else most + _price(before)}"
    if before is None or after is None or before.price is None or after.price is None:
        return text, UNBOUNDED
    (unit, old), (other, new) = scales[0].of(before.price), scales[1].of(after.price)
    if unit != other:
        return f"{text}; there is no rate to compare them", UNBOUNDED
    if not old:
        return text, UNBOUNDED if new else Decimal(0)
    percent = Fraction(new - old) * 100 / Fraction(old)
    return f"{text} ({_percent(percent)} percent)", percent_amount(abs(percent))


def _percent(percent: Fraction) -> str:
    """A change in percent with its sign. A limit compares with the exact one, which a breach of it names."""
    *about, digits = percent_text(abs(percent)).rsplit(" ", 1)
    return " ".join([*about, f"{'-' if percent < 0 else '+'}{digits}"])


def percent_amount(percent: Fraction) -> Decimal:
    """A percentage for limits: exact to a millionth, and never rounded down past a limit."""
    scaled = -(-percent.numerator * 10**6 // percent.denominator)
    return (Decimal(scaled) / 10**6).normalize() + 0


def _price(quote: Quote | None) -> str:
    if quote is None or quote.price is None:
        return ANY_PRICE
    return f"{quote.price}, its base price," if quote.of_base else str(quote.price)


# --- purchases ------------------------------------------------------------------------------------


def _purchases(
    old: Fleet | None, new: Fleet | None, names: list[str], rates: bool, unknown: Collection[str]
) -> Iterator[Fact]:
    """Who can no longer buy what from whom, and who newly can."""
    markets = [None if fleet is None else market_of(fleet) for fleet in (old, new)]
    beside = _beside(old, new)
    changed = set(names)
    changed |= {name for market in markets if market for name, payer in market.payers.items() if payer in changed}
    if rates:
        changed |= {name for market in markets if market for name in market.caps}
    changed |= _paying_otherwise(*markets)
    sides = [{} if market is None else _pairs(market, changed | {*beside}) for market in markets]
    if None in sides:
        yield from _counted(markets)
        return
    before, after = (_bought(market, pairs or {}) for market, pairs in zip(markets, sides, strict=True))
    for ended, less, more in ((True, before, after), (False, after, before)):
        words = _ENDED if ended else _BEGUN
        for gateway, seller, goods in sorted(less - more):
            home, other = (seller, gateway) if seller in changed else (gateway, seller)
            thing = "video" if goods == VIDEO else goods[1]
            goes_on = ended and _goes_on(markets[1], gateway, seller, unknown)
            cells = [_cell(market, gateway, seller, goods) for market in markets]
            there = cells[1 if ended else 0]
            unknown_there = there is not None and there.decision.outcome == UNKNOWN
            verb = _LEFT if goes_on else words[unknown_there]
            text = f"{thing} {verb} by {gateway}" if home == seller else f"{thing} {verb} from {seller}"
            if seller in beside and not {seller, gateway} & changed:
                home, other, text = beside[seller], seller, f"{thing} of {seller} {verb} by {gateway}"
            because = "" if goes_on else _because(markets[1], cells[1])
            headline = f"{gateway} {_ACTIVE[verb]} {thing} from {seller}{because}"
            who, weight = (other, *_payers(markets, gateway)), "worse" if ended else ""
            yield Fact("price", home, text + because, Decimal(0), _HINTS, who, weight, headline)


def _payers(markets: list[Market | None], gateway: str) -> list[str]:
    """The signers that pay for a gateway, before or after; nobody where it pays itself."""
    payers = (market.payers.get(gateway, gateway) for market in markets if market is not None)
    return [name for name in dict.fromkeys(payers) if name not in (gateway, "")]


def _goes_on(market: Market | None, gateway: str, seller: str, unknown: Collection[str]) -> bool:
    """Whether a purchase may continue against the spec, because one of the two processes may keep running.

    A seller that keeps running keeps buyers that do not find it by a list of this fleet.
    """
    finds = market is not None and gateway in market.caps and market.searches[gateway].listed is None
    return gateway in unknown or (seller in unknown and finds)


_LEFT = "may still be bought"
_ENDED = ("can no longer be bought", "may no longer be bought")
_BEGUN = ("can newly be bought", "can be bought for certain")
"""For a purchase, and for one unknown on the other side."""
_ACTIVE = {
    _LEFT: "may still buy",
    "can no longer be bought": "can no longer buy",
    "may no longer be bought": "may no longer buy",
    "can newly be bought": "can newly buy",
    "can be bought for certain": "can buy for certain",
}
"""The same of the buyer."""


def _beside(old: Fleet | None, new: Fleet | None) -> dict[str, str]:
    """For orchestrators with one registered address, the one that came, went or moved: that decides who is found."""
    causes: dict[str, str] = {}
    groups = [registrations(fleet) if fleet is not None else {} for fleet in (old, new)]
    for key in sorted({*groups[0], *groups[1]}):
        before, after = ({one.node.name: one.address for one in group.get(key, ())} for group in groups)
        moved = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        causes |= {name: moved[0] for name in {*before, *after} if moved and name not in moved}
    return causes


def _paying_otherwise(old: Market | None, new: Market | None) -> set[str]:
    """The gateways that other funds stand behind, or that another gas price is assumed for."""
    if old is None or new is None:
        return set()
    both = [name for name in new.backing if name in old.backing]
    return {name for name in both if (old.backing[name], old.chain) != (new.backing[name], new.chain)}


def _cell(market: Market | None, gateway: str, seller: str, goods: Goods) -> Cell | None:
    """A gateway against an orchestrator, where both are in a market."""
    both = market is not None and gateway in market.caps and seller in market.offers
    return market.cell(gateway, seller, goods) if market is not None and both else None


def _because(market: Market | None, cell: Cell | None) -> str:
    """Up to which gas price a purchase is possible from now on, or from which one it is not."""
    if market is None or cell is None:
        return ""
    until = market.until(cell)
    why = [cell.decision.why] if cell.decision.why else []
    if until is not None and cell.decision.outcome == BUYS:
        return f" while gas is below {gas_below(until)}"
    why += [f"only while gas is below {gas_below(until)}"] if until is not None else []
    return f": {'; '.join(why)}" if why else ""


_HINTS = (
    "-pricePerUnit", "-maxPricePerUnit", "-pixelsPerUnit", "aiModels.json", "prices.json", "-orchAddr",
    "-orchBlocklist", "-aiServiceRegistry", "-orchWebhookUrl", "-autoAdjustPrice", "-ticketEV", "-maxFaceValue",
    "-minGasPrice", "-maxTicketEV", "-maxTotalEV", "-depositMultiplier", "reserve", "deposit", "gas price",
)  # fmt: skip


def _pairs(market: Market, changed: set[str]) -> dict[str, list[str]] | None:
    """The orchestrators that each gateway asks, as far as one of the two changed; None where they are too many."""
    sellers = [seller for seller in market.offers if seller in changed]
    pairs: dict[str, list[str]] = {}
    count = 0
    for gateway in market.caps:
        search, own = market.searches[gateway], gateway in changed
        known = search.listed if search.listed is not None else market.offers if own else sellers
        pairs[gateway] = [s for s in known if s not in search.dropped and (own or s in changed)]
        count += len(pairs[gateway])
        if count > _PAIRS:
            return None
    return pairs


def _bought(market: Market | None, pairs: dict[str, list[str]]) -> set[tuple[str, str, Goods]]:
    if market is None:
        return set()
    return {
        (gateway, seller, goods)
        for gateway, sellers in pairs.items()
        for seller in sellers
        for goods in market.goods(seller)
        if market.cell(gateway, seller, goods).decision.outcome == BUYS
    }


def _counted(markets: list[Market | None]) -> Iterator[Fact]:
    """How many offers of all kinds each gateway reaches, where there are too many pairs to name."""
    counts = [
        {name: sum(verdict.within for _, verdict in market.purchases(name)) for name in market.caps} if market else {}
        for market in markets
    ]
    for name in sorted({*counts[0], *counts[1]}):
        before, after = counts[0].get(name, 0), counts[1].get(name, 0)
        if before != after:
            yield Fact("price", name, f"{after} offers are within its caps instead of {before}", Decimal(0), _HINTS)


# --- funds ----------------------------------------------------------------------------------------


def _funds(old: Fleet | None, new: Fleet | None) -> Iterator[Fact]:
    """What nodes pay from, what an hour costs and how long the deposit lasts; all nodes, for wallets are shared."""
    before, after = ({row.node: row for row in funds(fleet)} if fleet else {} for fleet in (old, new))
    for name in sorted({*before, *after}):
        there, here = before.get(name), after.get(name)
        if there == here:
            continue
        earlier = _told(there)
        parts = [
            f"{word} {now} instead of {earlier[word]}" for word, now in _told(here).items() if now != earlier[word]
        ]
        if parts:
            hints = ("deposit", "reserve", "expected load", "-maxPricePerUnit", "-pixelsPerUnit", "-ethAcctAddr")
            text = "; ".join(parts)
            yield Fact("funds", name, text, Decimal(1), hints, headline=f"Funds of {name}: {text}")


def _told(row: Funds | None) -> dict[str, str]:
    """The content of a row of funds; empty for a missing row."""
    cost, runway = (row.cost, row.runway) if row else (None, None)
    plain = (row.wallet, row.deposit, row.reserve) if row else (None, None, None)
    return {
        **{word: "none" if value is None else str(value) for word, value in zip(_PLAIN, plain, strict=True)},
        "an hour costs": "an unknown amount" if cost is None else f"{number_text(cost / WEI_IN_ETHER, 9)} ETH",
        "the deposit lasts": "an unknown time" if runway is None else hours_text(runway),
    }


_PLAIN = ("wallet", "deposit", "reserve")
