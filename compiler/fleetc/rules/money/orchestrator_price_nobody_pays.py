"""An orchestrator asks more than any gateway of the fleet that could use it would pay.

Why: the orchestrator is up, passes every check and earns nothing. Unless auto_adjust_price is false, it adds the cost
of redeeming tickets (formula: `fleetc explain gateway-price-admits-nobody`). Gateways outside the fleet may pay more,
so this is a warning. For a gateway that can afford nobody at all, see gateway-price-admits-nobody instead.

Example:

    [gateways.gate]
    max_price = "1500 wei / pixel"

    [orchestrators.a]
    price = "1200 wei / pixel"

    [orchestrators.b]
    price = "2000 wei / pixel"

Instead:

    [orchestrators.b]
    price = "1400 wei / pixel"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.acceptance import BUYS, VIDEO, PriceEntry, affordable, coming_to
from fleetc.analysis.economics import market_of
from fleetc.analysis.payers import Highest, Payers
from fleetc.analysis.tickets import Chain
from fleetc.language.effective import layer_1
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each offer of each orchestrator; a shared price is reported once."""
    if not fleet.on_chain or not fleet.gateways or layer_1(fleet):
        return
    market = market_of(fleet)
    payers = Payers(fleet, market)
    seen: set[Path] = set()
    for seller in sorted(market.offers):
        for goods, offer in sorted(market.offers[seller].items()):
            if offer.path in seen:
                continue
            found = payers.highest(offer)
            if found is not None and market.judge(found.cap.owner, goods).outcome == BUYS:
                seen.add(offer.path)
                yield _unpaid(offer, found, market.chain)


def _unpaid(offer: PriceEntry, found: Highest, chain: Chain) -> Diagnostic:
    price = affordable(found.asked, found.bound)
    key = "it" if found.asked.path == offer.path else ".".join(map(str, found.asked.path))
    what = "video" if offer.goods == VIDEO else f"model {offer.goods[1]}"
    return warning(
        "orchestrator-price-nobody-pays",
        f"orchestrator {offer.owner} asks {offer.price} for {what}, more than any gateway of this fleet pays",
        Label(offer.path, f"the price{coming_to(found.asked, chain) if key == 'it' else ''}"),
        [Label(found.cap.path, f"the highest cap, {found.cap.owner}")],
        f'lower {key} to "{price}" or less, or raise the cap' if price else "raise the cap",
    )
