"""A gateway's cap is at least 1,000 times what the dearest orchestrator asks that it can buy from.

Why: a cap is what keeps an expensive orchestrator from emptying the deposit. A cap far above every offer excludes
nobody, and often its unit is wrong: 1500 gwei is a billion times 1500 wei, and a price per pixel is a million times one
per megapixel.

fleetc compares the fleet's own offers, including the cost of redeeming a ticket (formula: `fleetc explain
gateway-price-admits-nobody`). A cap for several goods, such as video and models without their own cap, is compared with
the most expensive. fleetc skips a soft cap, free offers, a currency without a rate in [rates], and a wallet without
deposit or reserve. Write max_price = "any" if you mean to pay every price.

Example:

    [gateways.gate]
    max_price = "1500 gwei / pixel"
    orchestrators = ["orch"]

    [orchestrators.orch]
    price = "1200 wei / pixel"

Instead:

    [gateways.gate]
    max_price = "1500 wei / pixel"
    orchestrators = ["orch"]
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from operator import itemgetter

from fleetc.analysis.acceptance import PriceEntry, coming_to, enough
from fleetc.analysis.economics import Market, market_of
from fleetc.analysis.ranking import Ranking
from fleetc.analysis.tickets import Amount
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning

_FAR = 1000
"""A cap of this many times the dearest offer is more than any room for rising prices."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each cap on a chain once, with all that it is for: several gateways can have the caps of one signer."""
    if not fleet.on_chain:
        return
    market = market_of(fleet)
    uses: dict[Path, list[tuple[PriceEntry, Ranking]]] = {}
    for name, caps in market.caps.items():
        for goods, verdict in market.purchases(name):
            cap = caps.of(goods)
            uses.setdefault(cap.path, []).append((cap, verdict))
    for found in uses.values():
        cap = found[0][0]
        offer = _dearest([verdict for _, verdict in found])
        if cap.price is not None and offer is not None and cap.worth >= _FAR * _sent(offer):
            yield _far_above(market, cap, offer)


def _dearest(verdicts: list[Ranking]) -> PriceEntry | None:
    """The dearest offer that is bought; None if one of the offers cannot be judged, or if all are free."""
    if any(verdict.offers > verdict.within + verdict.above + verdict.refused for verdict in verdicts):
        return None
    bought = [verdict.dearest for verdict in verdicts if verdict.dearest and verdict.dearest.sent]
    return max(bought, key=_sent, default=None)


def _sent(offer: PriceEntry) -> Amount:
    return offer.sent or 0


def _far_above(market: Market, cap: PriceEntry, offer: PriceEntry) -> Diagnostic:
    who = f"signer {cap.path[1]}" if cap.path[0] == "remote_signers" else f"gateway {cap.owner}"
    times = int(Fraction(cap.worth) / Fraction(_sent(offer)))
    return warning(
        "gateway-cap-far-above-offers",
        f"{who} pays up to {cap.price}, {times:,} times the dearest offer of this fleet that it can buy",
        Label(cap.path, "the cap"),
        [Label(offer.path, f"the dearest offer, {offer.owner}{coming_to(offer, market.chain)}")],
        _help(cap, offer),
    )


def _help(cap: PriceEntry, offer: PriceEntry) -> str:
    """The cap in the unit that was probably meant; else the least that buys the dearest offer."""
    key, least = ".".join(map(str, cap.path[2:])), Fraction(_sent(offer))
    price = cap.price
    found = (
        [(cap.worth * other.per_pixel / price.per_pixel, other) for other in price.in_smaller_units()] if price else []
    )
    near = [pair for pair in found if least <= pair[0] < _FAR * least]
    meant = min(near, key=itemgetter(0))[1] if near else None
    said = (
        f'write {key} = "{meant}" if that is the unit you meant'
        if meant
        else f'lower {key}: "{enough(offer)}" is enough'
    )
    return said + (', or max_price = "any" to pay every price' if key == "max_price" else "")
