"""An orchestrator asks more than any gateway of the fleet that could use it pays.

Why: the orchestrator is up, passes every check and earns nothing. Gateways outside the fleet may pay more, so it is a
warning; a gateway that can afford nobody at all is reported by gateway-price-admits-nobody instead.

Example:

    [gateways.gate]
    max_price = "1500 wei / pixel"

    [orchestrators.a]
    price = "1200 wei / pixel"

    [orchestrators.b]
    price = "2000 wei / pixel"

Instead:

    [orchestrators.b]
    price = "1500 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Label, Path, warning
from compiler.model.fleet import Fleet
from compiler.model.market import VIDEO, Entry, Goods, Market, Payers


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each offer of each orchestrator; a price that several share is reported once."""
    if not fleet.on_chain or not fleet.gateways:
        return
    market = Market(fleet)
    payers = Payers(fleet, market)
    seen: set[Path] = set()
    buys: dict[tuple[str, Goods], bool] = {}
    for seller in sorted(market.offers):
        for goods, offer in sorted(market.offers[seller].items()):
            if offer.price is None or offer.path in seen:
                continue
            cap = payers.highest(seller, goods, offer.price)
            if cap is None:
                continue
            if (cap.owner, goods) not in buys:
                buys[cap.owner, goods] = market.judge(cap.owner, goods, cap).state == "met"
            if buys[cap.owner, goods]:
                seen.add(offer.path)
                yield _unpaid(fleet, offer, cap)


def _unpaid(fleet: Fleet, offer: Entry, cap: Entry) -> Diagnostic:
    what = "video" if offer.goods == VIDEO else f"model {offer.goods[1]}"
    return warning(
        "orchestrator-price-nobody-pays",
        f"orchestrator {offer.owner} asks {offer.price} for {what}, more than any gateway of this fleet pays it",
        Label(offer.path, "the price"),
        [Label(cap.path, f"the highest cap, {cap.owner}")],
        f'lower it to "{cap.price}" or less, or raise the cap',
    )
