"""A gateway pays less than every orchestrator of the fleet asks.

Why: the gateway finds orchestrators, drops each as too dear, and answers that no sessions are available. No log line
names the cap. Prices compare exactly, by the pixel; two currencies compare when [rates] says what they are worth. A
soft cap is not compared. It is an error where nobody outside the fleet can sell for less, else a warning.

Example:

    [gateways.gate]
    max_price = "1000 wei / pixel"
    orchestrators = ["orch"]

    [orchestrators.orch]
    price = "1200 wei / pixel"

Instead:

    [gateways.gate]
    max_price = "1200 wei / pixel"
    orchestrators = ["orch"]
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.analysis.acceptance import TOO_DEAR, VIDEO, Amount, Entry, Goods
from compiler.analysis.economics import Market, market_of
from compiler.analysis.ranking import Verdict
from compiler.diagnostics import Diagnostic, Label, error, warning
from compiler.model.fleet import Fleet


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each gateway on a chain."""
    if not fleet.on_chain:
        return
    market = market_of(fleet)
    names: dict[Goods, str] = {}
    for name, model in sorted(fleet.models.items()):
        names.setdefault((model.pipeline, model.id), name)
    for name in market.caps:
        yield from _gateway(market, names, name)


def _gateway(market: Market, names: dict[Goods, str], name: str) -> Iterator[Diagnostic]:
    """The goods that each cap is for: one that reaches none of them is said once."""
    caps, closed = market.caps[name], market.closed(name)
    purchases = market.purchases(name)
    nothing = all(verdict.outcome == TOO_DEAR for _, verdict in purchases)
    by_cap: dict[tuple[str | int, ...], list[tuple[Goods, Verdict]]] = {}
    for goods, verdict in purchases:
        cap = caps.of(goods)
        if goods == VIDEO or cap is not caps.base:
            by_cap.setdefault(cap.path, []).append((goods, verdict))
    for found in by_cap.values():
        goods, verdict = found[0]
        if all(v.outcome == TOO_DEAR for _, v in found):
            cap = caps.of(goods)
            cheapest = min((v.cheapest for _, v in found if v.cheapest), key=_worth, default=None)
            what = "video" if goods == VIDEO else f"model{'' if goods in caps.models else 's of'} {cap.path[-1]}"
            if cheapest:
                yield _refused(closed, what, cap, cheapest)
    left = [(v.cheapest, g) for g, v in purchases if g != VIDEO and caps.of(g) is caps.base and v.outcome == TOO_DEAR]
    dearest = max(((entry, goods) for entry, goods in left if entry), key=lambda pair: _worth(pair[0]), default=None)
    if dearest:
        yield _left_to_base(names[dearest[1]], caps.base, dearest[0], closed and nothing)


def _worth(entry: Entry) -> Amount:
    return entry.worth


def _refused(closed: bool, what: str, cap: Entry, offer: Entry) -> Diagnostic:
    whom = "no orchestrator sells" if closed else "no orchestrator of this fleet sells"
    key = ".".join(map(str, cap.path[2:]))
    special = ' or write max_price = "any"' if cap.path[-1] == "max_price" else " or remove it"
    return (error if closed else warning)(
        "gateway-price-admits-nobody",
        f"{_who(cap)} pays at most {cap.price}{_for_whom(cap)}, and {whom} {what} for that",
        Label(cap.path, "the cap"),
        [Label(offer.path, f"the cheapest offer, {offer.owner}")],
        f'raise {key} to "{offer.price}" or more,{special}',
    )


def _who(cap: Entry) -> str:
    """Whose cap it is: the gateway's own, or that of the signer which pays for it."""
    return f"signer {cap.path[1]}" if cap.path[0] == "remote_signers" else f"gateway {cap.owner}"


def _for_whom(cap: Entry) -> str:
    return f" for gateway {cap.owner}" if cap.path[0] == "remote_signers" else ""


def _left_to_base(name: str, cap: Entry, offer: Entry, nothing_else: bool) -> Diagnostic:
    """A model that has no cap of its own, so that the cap meant for video is applied to it."""
    also = "; so it can buy nothing at all" if nothing_else else ""
    return (error if nothing_else else warning)(
        "gateway-price-admits-nobody",
        f"{_who(cap)} does not pay what model {name} costs{_for_whom(cap)}: it has no cap of its own, and max_price is "
        "lower" + also,
        Label(cap.path, f"{cap.price}, for all that has no cap of its own"),
        [Label(offer.path, f"the cheapest offer, {offer.owner}")],
        f'write max_model_prices = {{ {name} = "{offer.price}" }}, or more',
    )
