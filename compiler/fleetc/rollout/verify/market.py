"""The current market, by reported prices and caps of nodes, and as the gateways of the fleet see it.

In: the nodes that answered. Out: findings, and `SeenMarket` values. It only judges live changes and the world outside:
`fleetc check` judges the spec itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor

from fleetc.analysis.acceptance import VIDEO, WEI
from fleetc.analysis.discovery import searches
from fleetc.analysis.economics import market_of
from fleetc.analysis.seen_market import SeenMarket, Seller, reaches, read_market
from fleetc.blueprint.blueprint import Blueprint
from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.signing import talks_to_chain
from fleetc.lower.common import account
from fleetc.lower.market_words import goods_text, number_text, reach_text
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import Finding, NodeSeen, UnknownError
from fleetc.text.counting import first_of

_SEEN = "/getNetworkCapabilities"
_MOST_ADDED = 2
"""How many times its price an orchestrator asks at most with the cost of redeeming tickets, below a gas of 3 gwei."""


def findings(
    fleet: Fleet, blueprint: Blueprint, running: Sequence[NodeSeen], markets: Sequence[SeenMarket]
) -> Iterator[Finding]:
    """The gateways that pay less now than an orchestrator that they list asks of them now; orchestrators as seen."""
    seen, searched = {node.service.name: node for node in running}, searches(fleet)
    for edge in blueprint.edges:
        gateway, orchestrator = seen.get(edge.source), seen.get(edge.target)
        if edge.kind != "pays" or gateway is None or orchestrator is None:
            continue
        if searched[edge.source].why_not(edge.target):
            continue
        who = account(fleet, edge.source).lower()
        cap, price = _cap(gateway), _asked(orchestrator, who)
        asks = _planned(orchestrator, f"pricePerGateway {who}", "pricePerUnit")
        if cap is None or price is None or price <= cap or (cap, price) == (_planned(gateway, "maxPricePerUnit"), asks):
            continue
        message = f"it pays at most {cap} wei a pixel, and {edge.target} asks {price} of it: it buys no video there now"
        yield gateway.found("drift", "price-above-cap-now", message)
    for node in running:
        if node.service.name in fleet.orchestrators:
            yield from _as_seen(node, markets)


def seen_by(node: NodeSeen) -> Iterator[SeenMarket]:
    """The market that a gateway saw last, if it searches the chain and saw anybody. Raises UnknownError."""
    if node.service.role != "gateway" or not talks_to_chain(node.fleet, node.node):
        return
    reply = node.reply(node.service.health.status, _SEEN)
    if reply.status == 500 and reply.body.startswith("network capabilities not available"):
        return
    try:
        seen = read_market(node.service.name, replies.mapping(reply, _SEEN))
    except ValueError as problem:
        raise UnknownError(f"it answers to {_SEEN} with a market {problem}") from None
    if seen.orchestrators:
        yield seen.model_copy(update={"reaches": reaches(node.fleet, seen, _cap(node))})


def nobody_sells(node: NodeSeen) -> Iterator[Finding]:
    """Video, and models with a cap of their own, that nobody sells to a gateway at its cap. Raises UnknownError."""
    for market in seen_by(node):
        caps = market_of(node.fleet).caps[node.service.name]
        for reach in market.reaches:
            if reach.known and not reach.sell and (reach.goods == VIDEO or reach.goods in caps.models):
                message = f"nobody sells {goods_text(reach.goods)} to it now: {reach_text(reach)}"
                yield node.found("warning", "nobody-sells-at-cap", message)._replace(place=caps.of(reach.goods).path)


def _as_seen(node: NodeSeen, markets: Sequence[SeenMarket]) -> Iterator[Finding]:
    """Whether gateways that surely look for an orchestrator saw it, and with the price and the models of the spec."""
    address, search = effective.service_address(node.fleet, node.node), searches(node.fleet)
    looking = [one for one in markets if search[one.gateway].surely_asks(node.service.name)]
    place = address.value.authority if address is not None else ""
    seen = [(market.gateway, one) for market in looking for one in market.at.get(place, ())]
    other = [f"{gateway} saw that it {words}" for gateway, one in seen for words in _otherwise(node, gateway, one)]
    if looking and not seen:
        other = [f"no gateway saw it when it last asked all orchestrators: {first_of([m.gateway for m in looking], 3)}"]
    if other:
        yield node.found("warning", "orchestrator-seen-otherwise", first_of(other, 3))


def _otherwise(node: NodeSeen, gateway: str, one: Seller) -> Iterator[str]:
    """How an orchestrator looks otherwise than in the spec; not where it says itself that its price was changed."""
    market, name, sent = market_of(node.fleet), node.service.name, one.price(VIDEO)
    offer, asked = market.offer(gateway, name, VIDEO), _asked(node, market.account[gateway] or "")
    if sent is not None and offer and offer.price and offer.price.currency == WEI and asked in (None, offer.worth):
        exact, adjusts = Fraction(offer.worth), offer.terms.adjusts
        if not (Fraction(floor(exact * 1000), 1000) <= sent <= exact * _MOST_ADDED if adjusts else sent == exact):
            yield f"asks {replies.shown(sent)} instead of {number_text(exact, 9)} wei a pixel for video"
    lacking = [goods for goods in sorted(market.offers[name]) if goods != VIDEO and goods not in one.models]
    yield from (f"does not offer {goods_text(goods)}" for goods in lacking)


def _cap(gateway: NodeSeen) -> Fraction | None:
    try:
        answer = replies.mapping(
            gateway.reply(gateway.service.health.status, "/getBroadcastConfig"), "/getBroadcastConfig"
        )
    except UnknownError:
        return None
    return replies.number(answer.get("MaxPrice"))


def _asked(orchestrator: NodeSeen, who: str) -> Fraction | None:
    try:
        status = replies.mapping(orchestrator.reply(orchestrator.service.health.status, "/status"), "/status")
    except UnknownError:
        return None
    prices = status.get("BroadcasterPrices")
    if not isinstance(prices, dict):
        return None
    by_account = {str(name).lower(): price for name, price in prices.items()}
    return replies.number(by_account.get(who, by_account.get("default")))


def _planned(node: NodeSeen, *names: str) -> Fraction | None:
    """The first of some settings that the spec has for a node."""
    live = {setting.name: setting.value for setting in node.service.live}
    return next((replies.number(live[name]) for name in names if name in live), None)
