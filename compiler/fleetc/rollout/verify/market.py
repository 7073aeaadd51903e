"""The current market, by reported prices and caps of nodes.

In: the nodes that answered. Out: findings. It only judges live changes: `fleetc check` judges the spec itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fleetc.analysis.discovery import searches
from fleetc.blueprint.blueprint import Blueprint
from fleetc.language.fleet import Fleet
from fleetc.lower.common import account
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import Finding, NodeSeen, UnknownError


def findings(fleet: Fleet, blueprint: Blueprint, running: Sequence[NodeSeen]) -> Iterator[Finding]:
    """The gateways that pay less now than an orchestrator that they list asks of them now."""
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
