"""The current market, by reported prices and caps of nodes, and as the gateways of the fleet see it.

In: the nodes that answered. Out: findings, and `MarketSeen` values. It only judges live changes and the world outside:
`fleetc check` judges the spec itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from math import floor

from fleetc.analysis.acceptance import VIDEO, WEI
from fleetc.analysis.discovery import searches
from fleetc.analysis.economics import market_of
from fleetc.analysis.seen_market import Seller, reaches, read_sellers
from fleetc.blueprint.blueprint import Blueprint
from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.language.signing import talks_to_chain
from fleetc.lower.common import account
from fleetc.lower.market_words import goods_text, number_text, reach_text
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import Finding, MarketSeen, NodeSeen, UnknownError
from fleetc.text.counting import counted, first_of

_SEEN = "/getNetworkCapabilities"
_MOST_ADDED = 2
"""How many times its price an orchestrator asks at most with the cost of redeeming tickets, below a gas of 3 gwei."""


def findings(
    fleet: Fleet,
    blueprint: Blueprint,
    running: Sequence[NodeSeen],
    markets: Sequence[MarketSeen],
    unregistered: Collection[str],
) -> Iterator[Finding]:
    """The gateways that pay less now than an orchestrator that they list asks of them now, and how gateways see the
    orchestrators of the fleet. Those that are `unregistered` have a finding already."""
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
        if node.service.name in fleet.orchestrators and node.service.name not in unregistered:
            yield from _as_seen(node, markets)


def market_of_gateway(node: NodeSeen) -> MarketSeen | None:
    """What a gateway that searches the chain saw last; None for other nodes, and while it saw nobody.

    Raises UnknownError.
    """
    if node.service.role != "gateway" or not talks_to_chain(node.fleet, node.node):
        return None
    reply = node.reply(node.service.health.status, _SEEN)
    if reply.status == 500 and reply.body.startswith("network capabilities not available"):
        return None
    try:
        sellers, unreadable = read_sellers(replies.mapping(reply, _SEEN))
    except ValueError as problem:
        raise UnknownError(f"it answers to {_SEEN} with what is no market: {problem}") from None
    if unreadable and not sellers:
        raise UnknownError(f"it answers to {_SEEN} with {counted(unreadable, 'orchestrator')} in another form")
    found = reaches(node.fleet, node.service.name, sellers, _cap(node))
    return MarketSeen(node.host.name, node.service.name, sellers, unreadable, found)


def seen_by(node: NodeSeen) -> Iterator[Finding]:
    """Video, and models with a cap of their own, that nobody sells to a gateway at its cap. Raises UnknownError."""
    market = market_of_gateway(node)
    for reach in market.reaches if market is not None and market.sellers else ():
        caps = market_of(node.fleet).caps[node.service.name]
        if reach.known and not reach.sell and (reach.goods == VIDEO or reach.goods in caps.models):
            message = f"nobody sells {goods_text(reach.goods)} to it now: {reach_text(reach)}"
            yield node.found("warning", "nobody-sells-at-cap", message)._replace(place=caps.of(reach.goods).path)


def _as_seen(node: NodeSeen, markets: Sequence[MarketSeen]) -> Iterator[Finding]:
    """Whether the gateways that look for an orchestrator saw it, and with the price and the models of the spec."""
    fleet, name = node.fleet, node.service.name
    address = effective.service_address(fleet, node.node)
    looking = [market for market in markets if market.sellers and _looks_for(fleet, market.gateway, name)]
    if address is None or not looking:
        return
    place = f"://{address.value.authority}"
    found = [(market, one) for market in looking for one in market.sellers if one.orch_uri.rstrip("/").endswith(place)]
    if not found:
        gateways = first_of([market.gateway for market in looking], 3)
        message = f"no gateway saw it at {address.value.authority} when it last asked all orchestrators: {gateways}"
        yield node.found("warning", "orchestrator-not-seen", message, help="gateways ask every 25 minutes")
    for market, one in found:
        other = list(_otherwise(node, market.gateway, one))
        if other:
            message = f"{market.gateway} saw that it {first_of(other, 3)}"
            yield node.found("warning", "orchestrator-seen-otherwise", message)
            return


def _looks_for(fleet: Fleet, gateway: str, seller: str) -> bool:
    """Whether a gateway surely asks an orchestrator; nobody knows whom a webhook names."""
    search = searches(fleet)[gateway]
    known = search.listed is not None or search.registry is not None
    return known and not search.why_not(seller) and seller not in search.unsure


def _otherwise(node: NodeSeen, gateway: str, one: Seller) -> Iterator[str]:
    """How an orchestrator looks otherwise than in the spec; not where it says itself that its price was changed."""
    market, name = market_of(node.fleet), node.service.name
    offer, asked = market.offer(gateway, name, VIDEO), _asked(node, market.account[gateway] or "")
    if offer is not None and offer.price is not None and offer.price.currency == WEI and asked in (None, offer.worth):
        exact = Fraction(offer.worth)
        least = Fraction(floor(exact * 1000), 1000) if offer.terms.adjusts else exact
        most = exact * _MOST_ADDED if offer.terms.adjusts else exact
        sent = one.price(VIDEO)
        if sent is not None and not least <= sent <= most:
            yield f"asks {replies.shown(sent)} instead of {number_text(exact, 9)} wei a pixel for video"
    for goods in sorted(market.offers[name]):
        if goods != VIDEO and goods not in one.models:
            yield f"does not offer {goods_text(goods)}"


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
