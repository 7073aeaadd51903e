"""Who may watch the streams of a fleet and which gateway takes them, before and after.

In: the items of both blueprints. Out: `Fact`s. Called by `effects.py`. A stream without a policy is open to everybody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from fleetc.review.impact.facts import Fact
from fleetc.review.items.item import Item, Key

_WHO = {
    "public": "everybody",
    "jwt": "holders of a signed token",
    "webhook": "those that a webhook admits",
}
_POLICY = "playbackPolicy"


class _Audience(NamedTuple):
    """Who may watch: type of the policy, its webhook with its data, origins of pages; None is any page."""

    kind: str = "public"
    webhook: str = ""
    origins: frozenset[str] | None = None

    def __str__(self) -> str:
        return _WHO.get(self.kind, self.kind) + (" on pages of some origins" if self.origins is not None else "")


def streams(old: Mapping[Key, Item], new: Mapping[Key, Item]) -> Iterator[Fact]:
    """Streams that come and go, those that others may watch than before, and those whose gateway is another."""
    yield from _gateways(old, new)
    before, after = _audiences(old), _audiences(new)
    for name in [*after, *(name for name in before if name not in after)]:
        there, here = before.get(name), after.get(name)
        if there == here:
            continue
        if there is None:
            text, headline = f"new stream; who may watch it: {here}", f"New stream {name}: {here} may watch it"
            yield Fact("exposure", "", text, Decimal(1), (name,), weight="worse", headline=headline)
        elif here is None:
            text = f"stream removed; who could watch it: {there}"
            yield Fact("exposure", "", text, Decimal(0), (name,), weight="better")
        else:
            audience = f"{here}; before: {there}" if str(there) != str(here) else f"{here}, but not the same as before"
            wider = not _narrower(there, here)
            text, headline = f"who may watch the stream: {audience}", f"Stream {name} may be watched by {audience}"
            hints, weight = (f"{name}: {_POLICY}",), "worse" if wider else "better"
            yield Fact("exposure", "", text, Decimal(wider), hints, weight=weight, headline=headline)


def _gateways(old: Mapping[Key, Item], new: Mapping[Key, Item]) -> Iterator[Fact]:
    """Streams that have to be sent elsewhere, or that no gateway is named for any more."""
    for key, item in old.items():
        if item.kind != "stream" or key[3:] != ("gateway",) or key[:3] not in new:
            continue
        gateway, other = item.value, new.get(key)
        gone = ("node", gateway) in old and ("node", gateway) not in new
        hints = (item.what,)
        if other is None and gone:
            text = f"{gateway} leaves the fleet, and the stream has no other gateway: none accepts it"
            headline = f"Stream {key[2]} has no gateway: {gateway} leaves the fleet"
            yield Fact("capacity", "", text, Decimal(1), hints, weight="worse", headline=headline)
        elif other is None:
            text = f"the stream no longer has a gateway in the spec; {gateway} stays in the fleet"
            yield Fact("capacity", "", text, Decimal(0), hints)
        elif other.value != gateway:
            text = f"the stream must be sent to {other.value} now{f'; {gateway} leaves the fleet' if gone else ''}"
            yield Fact("identity", "", text, Decimal(1), hints)


def _audiences(items: Mapping[Key, Item]) -> dict[str, _Audience]:
    """The audience of each stream by its name."""
    audiences: dict[str, _Audience] = {}
    for key, item in items.items():
        if item.kind != "stream":
            continue
        if item.presence:
            audiences.setdefault(key[2], _Audience())
        elif key[-1] == _POLICY:
            policy = json.loads(item.value)
            origins = policy.get("allowedOrigins")
            pages = None if origins is None else frozenset(map(str, origins))
            webhook = ""
            if policy["type"] == "webhook":
                webhook = json.dumps([policy.get("webhookId"), policy.get("webhookContext")])
            audiences[key[2]] = _Audience(policy["type"], webhook, pages)
    return audiences


def _narrower(before: _Audience, after: _Audience) -> bool:
    """Whether there are no new viewers."""
    admitted = before.kind == "public" or (before.kind, before.webhook) == (after.kind, after.webhook)
    return admitted and (before.origins is None or (after.origins is not None and after.origins <= before.origins))
