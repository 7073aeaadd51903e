"""Facts about the stream API: its default ladder, the fields that only it writes, and the bounds of the node's ladders.

In: `stream_api.toml` beside this file, read at import. Out: `API_VERSION`, `DEFAULT_PROFILES`, `SERVER_OWNED`,
`NODE_BOUNDS` and the limits that requests have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fleetc.upstream import load

_DATA = load("stream_api.toml")


class NodeBounds(NamedTuple):
    """Sizes in pixels to which the node clamps, and the bit rate (bits a second) that its 32-bit field holds."""

    least_width: int
    least_height: int
    greatest_side: int
    greatest_bitrate: int


API_VERSION: str = _DATA["version"]
"""The version of the API's description that everything here follows."""

DEFAULT_PROFILES: tuple[dict[str, Any], ...] = tuple(_DATA["default_profiles"])
"""The ladder that applies where a stream declares none, spelled as the API does."""

SERVER_OWNED: dict[str, str] = dict(_DATA["server_owned"])
"""Fields that the service assigns, and what to do instead of declaring them."""

NODE_BOUNDS = NodeBounds(**_DATA["node"])

TAGS_LIMIT = 2048
"""UTF-16 code units of userTags as compact JSON; the service refuses more."""

BODY_LIMIT = 102_400
"""Bytes of the body of a request; the service answers 413 to more. It is the 100 kB that Express reads by default."""

SOURCE = "source"
"""The name of the source stream; no profile may have it."""

TARGET_URL = "^(srt|rtmps?)://"
"""The form that the service wants of the URL of a target."""
