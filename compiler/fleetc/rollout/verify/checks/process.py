"""Whether a node reports health, its release, and the settings of its start.

In: a node and its answers. Out: findings.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.prices import prices_of
from fleetc.blueprint.rollout import LiveValue
from fleetc.lower.common import account
from fleetc.places.diagnostic import Path
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import Back, Finding, NodeSeen, UnknownError
from fleetc.upstream.live_settings import LIVE_SETTINGS

_DOCUMENTED = {"maxSessions": "SessionLimit", "pricePerUnit": "PricePerUnit"}
"""Fields of /status that the documentation of the node has and the node itself does not."""


def healthz(seen: NodeSeen) -> Iterator[Finding]:
    """/healthz, of nodes that have it."""
    where = seen.service.health.healthz
    if not where:
        return
    status = seen.reply(where, "/healthz").status
    if status != 200:
        yield seen.found("drift", "node-unhealthy", f"it answers {status} to /healthz")


def version(seen: NodeSeen) -> Iterator[Finding]:
    """The release that /status names."""
    wanted = seen.service.health.version
    name = replies.mapping(seen.reply(seen.service.health.status, "/status"), "/status").get("Version")
    if name is None:
        raise UnknownError("/status has no release")
    if not isinstance(name, str) or not (name == wanted or name.startswith(f"{wanted}-")):  # from another commit
        message = f"it reports release {replies.shown(name)} instead of {wanted}"
        yield seen.found("drift", "other-program-release", message)


def settings(seen: NodeSeen) -> Iterator[Finding]:
    """Every reported live setting against its release."""
    unknown: list[str] = []
    for live in seen.service.live:
        can_be_asked = bool(LIVE_SETTINGS[live.name.partition(" ")[0]].read)
        if (live.known_back and can_be_asked) or _is_documented(seen, live.name):
            try:
                yield from _setting(seen, live)
            except UnknownError as problem:
                unknown.append(str(problem))
    if unknown:
        raise UnknownError(unknown[0])


def _setting(seen: NodeSeen, live: LiveValue) -> Iterator[Finding]:
    flag, _, who = live.name.partition(" ")
    path, *keys = (text.replace("{}", who) for text in LIVE_SETTINGS[flag].read)
    value = _said(seen, flag, path, keys)
    if _same(value, live.value) or (flag == "pricePerUnit" and _same(value, _as_given(seen, flag))):
        return
    what = f"{replies.shown(value) if value else 'nothing'} instead of {live.value or 'nothing'}"
    if live.name in seen.had and _same(value, seen.had[live.name]):
        message = f"it runs with {live.name} = {what}: the release on its host has that"
        finding = seen.found("drift", "other-release", message, help=advice_for_other(seen.back))
    else:
        message = f"it runs with {live.name} = {what}, although its arguments may be right"
        advice = "somebody set it while the node runs; restart the node, or write the value into the spec and deploy"
        finding = seen.found("drift", "set-at-run-time", message, help=advice)
    yield finding._replace(place=_place(seen, live))


def advice_for_other(back: Back | None) -> str:
    """What to do about another release than that of the spec."""
    if back is None:
        return "deploy the tree; after a rollback, revert the spec instead; else find out who changed it"
    return "revert the spec to what was rolled back to, or deploy the tree to bring its release back"


def _is_documented(seen: NodeSeen, name: str) -> bool:
    """Whether /status has a session limit, which else only nodes with metrics report."""
    try:
        status = replies.mapping(seen.reply(seen.service.health.status, "/status"), "/status")
    except UnknownError:
        return False
    return name == "maxSessions" and _DOCUMENTED[name] in status


def _as_given(seen: NodeSeen, flag: str) -> str:
    """A price as in its flag, for so many pixels: the unit of the reported price is undocumented."""
    return next((argument.value for argument in seen.service.arguments if argument.flag == flag), "")


def _said(seen: NodeSeen, flag: str, path: str, keys: list[str]) -> str:
    """The reported value of a setting; "" for none."""
    where = seen.service.health.status
    documented = _DOCUMENTED.get(flag)
    if documented:
        status = replies.mapping(seen.reply(where, "/status"), "/status")
        if documented in status:
            return str(status[documented])
    reply = seen.reply(where, path)
    if not keys:
        return replies.words(reply, path)
    if path == "/metrics":
        metric = replies.metric(reply, keys[0])
        if metric is None:
            raise UnknownError(f"/metrics has no {keys[0]}")
        return str(metric)
    value = replies.value(reply, path)
    for key in keys:
        if not isinstance(value, dict):
            raise UnknownError(f"{path} does not say {'.'.join(keys)}")
        value = next((item for name, item in value.items() if name.lower() == key.lower()), None)  # addresses too
    return "" if value is None else str(value)


def _same(value: str, wanted: str) -> bool:
    return value == wanted or (replies.number(value) is not None and replies.number(value) == replies.number(wanted))


def _place(seen: NodeSeen, live: LiveValue) -> Path:
    """Where the spec has the setting: a price, or the first given origin of an argument, else the node's table."""
    who = live.name.partition(" ")[2]
    for price in prices_of(seen.fleet, seen.node) if who else ():
        if price.to and not price.work and account(seen.fleet, price.to).lower() == who:
            return price.path
    for argument in seen.service.arguments:
        if argument.flag in live.flags and not live.file:
            for path in argument.origin.paths:
                return path
    return seen.place
