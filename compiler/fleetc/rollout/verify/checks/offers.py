"""Whether orchestrators offer the live runners of the spec, for what the spec asks.

In: an orchestrator and what it answers to /discovery. Out: findings. Source: the node's own code at release v0.9.1
(ai/runner/live_runner.go, server/ai_http.go): it lists only ready runners, with whole wei for a second, a pixel or a
request at its own price feed; off-chain without prices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from fleetc.analysis import runner_prices
from fleetc.analysis.runner_prices import RunnerWorth
from fleetc.language import effective_runners
from fleetc.language.effective_runners import Offer
from fleetc.language.orchestrator import Orchestrator
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import Finding, Kind, NodeSeen, UnknownError
from fleetc.rollout.verify.questions import DISCOVERY
from fleetc.text.counting import first_of

RATE_MOVES = Fraction(1, 10)
"""The allowed difference of a price from the spec, as a part of it: the feed moves all day."""

NO_RATE_MOVES = 2
"""The factor beyond which the feed does not explain a price."""

_UNITS = {"hour": "seconds", "720p": "720p-pixel-seconds", "fixed": "fixed"}
"""What the node calls the unit of a price in wei, by its own unit of the price in USD."""

_SHOWN = 5
_REPAIR = "the node got another list, or the runner reports this itself: restart the node, or change the spec"


def live_runners(seen: NodeSeen) -> Iterator[Finding]:
    """Each expected runner of the orchestrator, and additional ones."""
    settings = seen.node.settings
    if not isinstance(settings, Orchestrator) or not settings.runners or not seen.service.health.healthz:
        return
    entries = _told(seen)
    for offer in effective_runners.offers_of(seen.fleet, seen.node):
        entry = _taken(entries, offer)
        if entry is None:
            yield _missing(seen, offer)
        else:
            yield from _differences(seen, offer, entry)
    if entries and settings.live_runners is not True and settings.live_runner_config is None:
        apps = first_of([replies.shown(entry.get("app")) for entry in entries], _SHOWN)
        message = f"it also offers {apps}, which the spec does not list"
        advice = "list it in runners, or restart the node: it forgets no runner of a list while it runs"
        yield seen.found("drift", "live-runner-not-in-spec", message, "runners", advice)


def _told(seen: NodeSeen) -> list[Mapping[str, Any]]:
    """The entries of its answer; none is a list too. Raises UnknownError where it makes no sense."""
    answer = replies.value(seen.reply(seen.service.health.healthz, DISCOVERY), DISCOVERY)
    first = answer[0] if isinstance(answer, list) and len(answer) == 1 else None
    runners = first.get("runners") or [] if isinstance(first, dict) else None
    if not isinstance(runners, list) or not all(isinstance(entry, dict) for entry in runners):
        raise UnknownError(f"it answers to {DISCOVERY} with no list of runners")
    return list(runners)


def _taken(entries: list[Mapping[str, Any]], offer: Offer) -> Mapping[str, Any] | None:
    """Takes the entry of an offer out of the list: by the name in its URL, else by its app."""
    for entry in entries:
        if _is_of(entry, offer):
            entries.remove(entry)
            return entry
    return None


def _is_of(entry: Mapping[str, Any], offer: Offer) -> bool:
    runner = offer.runner
    if runner.register_by == "runner" or runner.routing == "runner-id":
        return entry.get("app") == runner.app
    return str(entry.get("url")).rpartition("/")[2] == offer.name


def _missing(seen: NodeSeen, offer: Offer) -> Finding:
    """A runner that is not offered; if the fleet starts it, another finding may explain it."""
    if offer.runner.register_by == "runner":
        why, advice = "it has not registered itself", "look at its log: its address and its secret of the orchestrator"
    else:
        why, advice = "it is not ready, or not in the list that the node has", "look at the log of the orchestrator"
    message = f"{offer.name}: {seen.node.name} does not offer it: {why}"
    return Finding("drift", "live-runner-not-offered", seen.host.name, seen.service.name, message, offer.path, advice)


def _differences(seen: NodeSeen, offer: Offer, entry: Mapping[str, Any]) -> Iterator[Finding]:
    runner = offer.runner
    planned = {"app": runner.app, "mode": runner.mode, "capacity": runner.capacity or 1}
    planned |= {"version": runner.version} if runner.version is not None else {}
    for field, wanted in planned.items():
        got = entry.get(field)
        if str(got) != str(wanted):
            message = f"{offer.name}: {seen.node.name} offers it with {field} {replies.shown(got)} instead of {wanted}"
            yield _at(seen, offer, "drift", "live-runner-offered-otherwise", message, field)
    yield from _price(seen, offer, entry.get("price_info"))


def _price(seen: NodeSeen, offer: Offer, info: object) -> Iterator[Finding]:
    """The price in wei against that of the spec at its rate. Without a rate it is unknown."""
    price = offer.runner.price
    if price is None or not seen.fleet.on_chain:
        return
    offered = info if isinstance(info, dict) else {}
    wei, unit, wanted = replies.number(offered.get("price")), offered.get("unit"), _UNITS[price.sold_by.node]
    planned = runner_prices.worth(price, seen.fleet.rates)
    if not offered:
        message = f"{offer.name}: {seen.node.name} offers it without a price, so no signer finds it"
        yield _at(seen, offer, "drift", "live-runner-price-differs", message, "price")
    elif wei is None or offered.get("currency") != "wei":
        message = f"{offer.name}: {DISCOVERY} has no price in wei"
        yield _at(seen, offer, "unknown", "not-answered", message, "price")
    elif unit != wanted:
        message = f"{offer.name}: {seen.node.name} sells it by {replies.shown(unit)} instead of {wanted}"
        yield _at(seen, offer, "drift", "live-runner-price-differs", message, "price")
    elif planned is None:
        message = (
            f"{offer.name}: it costs {replies.shown(wei)} wei a unit, and the spec has no rate to compare that with"
        )
        advice = "write USD under rates: its worth in ETH"
        yield _at(seen, offer, "unknown", "not-answered", message, "price", advice)
    else:
        yield from _amount(seen, offer, wei, planned)


def _amount(seen: NodeSeen, offer: Offer, wei: Fraction, planned: RunnerWorth) -> Iterator[Finding]:
    """Wei against the spec; rounding may differ by one wei."""
    if abs(wei - planned.wei) <= max(planned.wei * RATE_MOVES, Fraction(1)):
        return
    asks = f"{seen.node.name} asks {replies.shown(wei)} wei a {planned.advertised}"
    message = f"{offer.name}: {asks}, and the spec comes to {planned.wei}"
    if planned.wei < wei * NO_RATE_MOVES and wei < planned.wei * NO_RATE_MOVES:
        advice = "if USD in rates of the spec is old, write today's; else the price was changed: restart the node"
        yield _at(seen, offer, "warning", "live-runner-price-moved", message, "price", advice)
    else:
        yield _at(seen, offer, "drift", "live-runner-price-differs", message, "price")


def _at(seen: NodeSeen, offer: Offer, kind: Kind, code: str, message: str, field: str, advice: str = "") -> Finding:
    """A finding of the orchestrator at a field of the runner, or at its table."""
    given = field in offer.runner.model_fields_set
    place = (*offer.of_runner, field) if given else offer.of_runner
    return Finding(kind, code, seen.host.name, seen.service.name, message, place, advice or _REPAIR)
