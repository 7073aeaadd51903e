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

from compiler.analysis.acceptance import BUYS, VIDEO, Entry
from compiler.analysis.economics import market_of
from compiler.analysis.payers import Payers
from compiler.diagnostics import Diagnostic, Label, Path, warning
from compiler.model.fleet import Fleet


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each offer of each orchestrator; a price that several share is reported once."""
    if not fleet.on_chain or not fleet.gateways:
        return
    market = market_of(fleet)
    payers = Payers(fleet, market)
    seen: set[Path] = set()
    for seller in sorted(market.offers):
        for goods, offer in sorted(market.offers[seller].items()):
            if offer.path in seen:
                continue
            cap = payers.highest(offer)
            if cap is not None and market.judge(cap.owner, goods).outcome == BUYS:
                seen.add(offer.path)
                yield _unpaid(offer, cap)


def _unpaid(offer: Entry, cap: Entry) -> Diagnostic:
    what = "video" if offer.goods == VIDEO else f"model {offer.goods[1]}"
    return warning(
        "orchestrator-price-nobody-pays",
        f"orchestrator {offer.owner} asks {offer.price} for {what}, more than any gateway of this fleet pays it",
        Label(offer.path, "the price"),
        [Label(cap.path, f"the highest cap, {cap.owner}")],
        f'lower it to "{cap.price}" or less, or raise the cap',
    )
