"""Brings a declared and an observed stream into one form: equal meaning, equal value.

In: the request of a blueprint, or a checked answer. Out: plain values: `profiles` by name, policies with their
defaults, origins as sets, frame rates without a denominator of 1. Called by `drift.py` and `steps.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from fleetc.language.renditions import INTRA
from fleetc.upstream.stream_api import DEFAULT_PROFILES

REFRESH = 600
"""Default seconds before a policy judges a viewer again."""

_PROFILE = ("name", "width", "height", "bitrate", "fps", "fpsDen", "quality", "gop", "profile", "encoder")
_POLICY = ("type", "webhookId", "webhookContext", "refreshInterval", "allowedOrigins")
_PULL = ("source", "headers", "isMobile", "location")
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")
OPTIONAL = ("quality", "gop", "profile")
"""Keys of a profile that count only where they are declared: the service fills some of them in."""


class NormalTarget(NamedTuple):
    """A target by its identity, and whether it only gets silent video."""

    profile: str
    id: str
    video_only: bool

    @property
    def row(self) -> dict[str, Any]:
        """The target as the API spells it."""
        return {"profile": self.profile, **({"videoOnly": True} if self.video_only else {}), "id": self.id}


def creator(stream: Mapping[str, Any]) -> dict[str, Any]:
    """Whom the stream belongs to; nothing for nobody."""
    return _known(stream.get("creatorId") or {}, ("type", "value"))


def same(own: Any, other: Any) -> bool:
    """Whether two values of JSON are the same: 1 equals 1.0, but not true or "1"; lists keep their order.

    Numbers that are not whole are compared as the doubles that the service keeps.
    """
    if isinstance(own, bool) or isinstance(other, bool):
        return own is other
    if isinstance(own, int | Decimal) and isinstance(other, int | Decimal):
        return own == other or (isinstance(own, Decimal) and isinstance(other, Decimal) and float(own) == float(other))
    if isinstance(own, list) and isinstance(other, list):
        return len(own) == len(other) and all(map(same, own, other))
    if isinstance(own, dict) and isinstance(other, dict):
        return own.keys() == other.keys() and all(same(own[key], other[key]) for key in own)
    return type(own) is type(other) and bool(own == other)


def profiles(stream: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The profiles by name; the default ladder where there are none or null, and nothing for an empty list."""
    rows = stream.get("profiles")
    return {row["name"]: profile(row) for row in (DEFAULT_PROFILES if rows is None else rows)}


def profile(row: Mapping[str, Any]) -> dict[str, Any]:
    """One profile, of a stream or of a recording, with the defaults of its keys."""
    full = {"fpsDen": 1, "encoder": "H.264", **_known(row, _PROFILE)}
    if "gop" in full:
        full["gop"] = gop(full["gop"])
    return full


def _known(row: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """What the API describes of a table; what it answers besides is noted elsewhere and never compared."""
    return {key: row[key] for key in keys if key in row}


def gop(text: str) -> str:
    """A distance of key frames in its shortest spelling, where it is a number: "2" for "2.0"."""
    if text == INTRA or not _DECIMAL.fullmatch(text):
        return text
    whole, _, part = text.partition(".")
    digits = whole.lstrip("0") or "0"
    return f"{digits}.{part.rstrip('0')}".rstrip(".")


def policy(stream: Mapping[str, Any]) -> dict[str, Any]:
    """The playback policy with its defaults: none is public, and origins are a set."""
    declared = stream.get("playbackPolicy") or {"type": "public"}
    defaults = {"webhookContext": {}, "refreshInterval": REFRESH, "allowedOrigins": []}
    whole = {**defaults, **_known(declared, _POLICY)}
    return {**whole, "allowedOrigins": sorted(set(whole["allowedOrigins"]))}


def pull(stream: Mapping[str, Any]) -> dict[str, Any] | None:
    """Where the stream is fetched; None where it is sent. No mobile source is 0, and no headers are none."""
    source = stream.get("pull")
    if source is None:
        return None
    mobile = source.get("isMobile", 0)
    known = _known(source, _PULL)
    return {**known, "headers": source.get("headers", {}), "isMobile": 0 if mobile is False else mobile}


def headers(observed: Mapping[str, Any], declared: Iterable[str]) -> dict[str, Any]:
    """Observed headers by the spelling of the declared ones, as capitals make no difference in their names."""
    spelled = {name.lower(): name for name in declared}
    spelled_headers: dict[str, Any] = {}
    for name in sorted(observed, key=lambda name: name not in spelled.values()):  # an exact name before its variants
        meant = spelled.get(name.lower(), name)
        spelled_headers[name if meant in spelled_headers else meant] = observed[name]
    return spelled_headers


def record(stream: Mapping[str, Any]) -> bool:
    """Whether it is recorded."""
    return stream.get("record") is True


def recording(stream: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The renditions of recordings; None where they are left to the service, as an empty spec does."""
    rows = (stream.get("recordingSpec") or {}).get("profiles")
    return None if rows is None else [profile(row) for row in rows]


def targets(rows: Iterable[Mapping[str, Any]]) -> tuple[NormalTarget, ...]:
    """Targets that have an id, in their order."""
    return tuple(NormalTarget(row["profile"], row["id"], row.get("videoOnly") is True) for row in rows if "id" in row)


def target_rows(stream: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of targets in a stream; none, an empty table and an empty list are the same."""
    return list((stream.get("multistream") or {}).get("targets") or ())
