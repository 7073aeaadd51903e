"""The tags of a stream are too long for the service.

Why: as JSON they may have at most 2048 characters (UTF-16 code units) in total; the service refuses more.

Example:

    [streams.main.userTags]
    notes = "a very long text ..."

Instead:

    [streams.main.userTags]
    notes = "see document 17"
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream.stream_api import TAGS_LIMIT


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Measure the tags of each stream."""
    for name, stream in sorted(fleet.streams.items()):
        length = _length(stream.userTags or {})
        if length > TAGS_LIMIT:
            yield error(
                "stream-tags-too-long",
                f"the tags of stream {name} are {length} characters as JSON, more than {TAGS_LIMIT}",
                Label(("streams", name, "userTags")),
                help="shorten them, or keep an id here and the rest elsewhere",
            )


def _length(tags: dict[str, Any]) -> int:
    """UTF-16 code units of the tags as compact JSON."""
    text = json.dumps(tags, ensure_ascii=False, separators=(",", ":"), default=_number)
    return len(text.encode("utf-16-le")) // 2


def _number(value: Decimal) -> float:
    return float(value)
