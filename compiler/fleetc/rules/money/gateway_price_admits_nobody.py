"""A gateway pays less than every orchestrator of the fleet asks.

Why: the gateway finds orchestrators, drops each one as too expensive, and answers that no sessions are available. No
log line names the cap. fleetc compares prices exactly, per pixel; prices in two currencies only with [rates]. A soft
cap is not compared.

A cap that equals the price admits nobody. Unless auto_adjust_price is false, an orchestrator adds the cost of redeeming
a ticket:

    sent = price x (1 + cost / face), cut to 0.001 wei
    cost = 1200000 x gas price (350000 on networks other than Arbitrum)
    face = 100 x cost, or 100 x ticket_ev if cost x 100 is below ticket_ev;
           at most max_face_value, and at most the payer's reserve / 100

So it sends at least 1.01 x its price, and more to a payer with a small reserve: 1.02 x at 0.3 ETH and 0.05 gwei, 1.4 x
at 0.03 ETH and 0.1 gwei. The reserve is that of the gateway's or its signer's wallet. The active set shares it; fleetc
assumes that the set is full, with 100 orchestrators. The gas price is gas_price of [fleet], else 0.05 gwei.

It is an error if nobody outside can sell for less and the gateway cannot buy at any gas price from 0.001 gwei.
Otherwise it is a warning.

Example:

    [gateways.gate]
    max_price = "1200 wei / pixel"
    orchestrators = ["orch"]

    [orchestrators.orch]
    price = "1200 wei / pixel"

Instead:

    [gateways.gate]
    max_price = "1250 wei / pixel"
    orchestrators = ["orch"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.acceptance import (
    BUYS,
    REFUSED,
    TOO_EXPENSIVE,
    VIDEO,
    Goods,
    PriceEntry,
    at_gas,
    coming_to,
    decide,
    enough,
)
from fleetc.analysis.economics import Market, market_of
from fleetc.analysis.ranking import Ranking
from fleetc.analysis.tickets import Amount
from fleetc.language.effective import layer_1
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each gateway on a chain."""
    if not fleet.on_chain or layer_1(fleet):
        return
    market = market_of(fleet)
    names: dict[Goods, str] = {}
    for name, model in sorted(fleet.models.items()):
        names.setdefault((model.pipeline, model.id), name)
    for name in market.caps:
        yield from _gateway(market, names, name)


def _gateway(market: Market, names: dict[Goods, str], name: str) -> Iterator[Diagnostic]:
    """The goods that each cap is for: a cap that reaches none of them is reported once."""
    caps, closed = market.caps[name], market.searches[name].closed
    purchases = [(goods, market.judge_price(name, goods)) for goods, _ in market.purchases(name)]
    nothing = all(verdict.outcome in (TOO_EXPENSIVE, REFUSED) for _, verdict in purchases)
    never = closed and nothing and all(_never(market, name, goods) for goods, _ in purchases)
    by_cap: dict[tuple[str | int, ...], list[tuple[Goods, Ranking]]] = {}
    for goods, verdict in purchases:
        cap = caps.of(goods)
        if goods == VIDEO or cap is not caps.base:
            by_cap.setdefault(cap.path, []).append((goods, verdict))
    for found in by_cap.values():
        goods, verdict = found[0]
        if all(v.outcome == TOO_EXPENSIVE for _, v in found):
            cap = caps.of(goods)
            cheapest = min((v.cheapest for _, v in found if v.cheapest), key=_sent, default=None)
            what = "video" if goods == VIDEO else f"model{'' if goods in caps.models else 's of'} {cap.path[-1]}"
            if cheapest:
                certain = all(_never(market, name, goods) for goods, _ in found)
                yield _refused(market, closed, certain, what, cap, cheapest)
    left = [
        (v.cheapest, g) for g, v in purchases if g != VIDEO and caps.of(g) is caps.base and v.outcome == TOO_EXPENSIVE
    ]
    dearest = max(((entry, goods) for entry, goods in left if entry), key=lambda pair: _sent(pair[0]), default=None)
    if dearest:
        yield _left_to_base(market, names[dearest[1]], caps.base, dearest[0], closed and nothing, never)


def _sent(entry: PriceEntry) -> Amount:
    return entry.sent or 0


def _never(market: Market, name: str, goods: Goods) -> bool:
    """Whether the gateway could not buy even if gas cost almost nothing."""
    return market.judge_price(name, goods, market.quiet).outcome in (TOO_EXPENSIVE, REFUSED)


def _refused(market: Market, closed: bool, certain: bool, what: str, cap: PriceEntry, offer: PriceEntry) -> Diagnostic:
    whom = "no orchestrator sells" if closed else "no orchestrator of this fleet sells"
    key = ".".join(map(str, cap.path[2:]))
    special = ', or write max_price = "any"' if cap.path[-1] == "max_price" else ""
    special = ", or remove it" if _dispensable(market, cap, offer) else special
    when = "" if certain else f" {at_gas(market.chain)}"
    known = market.backing[cap.owner].known
    return (error if closed and certain else warning)(
        "gateway-price-admits-nobody",
        f"{_who(cap)} pays at most {cap.price}{_for_whom(cap)}, but {whom} {what} for that{when}",
        Label(cap.path, "the cap"),
        [Label(offer.path, f"the cheapest offer, {offer.owner}{coming_to(offer, market.chain, known)}")],
        f'raise {key} to "{enough(offer)}" or more{special}{_unsure(known)}',
    )


def _who(cap: PriceEntry) -> str:
    """The owner of the cap: the gateway, or the signer that pays for it."""
    return f"signer {cap.path[1]}" if cap.path[0] == "remote_signers" else f"gateway {cap.owner}"


def _for_whom(cap: PriceEntry) -> str:
    return f" for gateway {cap.owner}" if cap.path[0] == "remote_signers" else ""


def _dispensable(market: Market, cap: PriceEntry, offer: PriceEntry) -> bool:
    """Whether the offer is bought without the cap of its model or pipeline, at the cap that then applies."""
    caps = market.caps[cap.owner]
    rest = caps.base if cap.goods[1] == "" else caps.pipelines.get(cap.goods[0], caps.base)
    return rest is not cap and decide(rest, offer, market.backing[cap.owner], market.chain).outcome == BUYS


def _left_to_base(
    market: Market, name: str, cap: PriceEntry, offer: PriceEntry, nothing_else: bool, never: bool
) -> Diagnostic:
    """A model without its own cap, so that the cap meant for video applies to it."""
    known = market.backing[cap.owner].known
    also = "; so it can buy nothing at all" if nothing_else else ""
    also += f" {at_gas(market.chain)}" if nothing_else and not never else ""
    return (error if never else warning)(
        "gateway-price-admits-nobody",
        f"{_who(cap)} does not pay what model {name} costs{_for_whom(cap)}: the model has no cap of its own, "
        "and max_price is lower" + also,
        Label(cap.path, f"{cap.price}, for everything without its own cap"),
        [Label(offer.path, f"the cheapest offer, {offer.owner}{coming_to(offer, market.chain, known)}")],
        f'write max_model_prices = {{ {name} = "{enough(offer)}" }}, or more{_unsure(known)}',
    )


def _unsure(known: bool) -> str:
    """What to add to a number if the gateway's funds are unknown."""
    return "" if known else "; its payer's reserve, which the spec does not state, decides how much more"
