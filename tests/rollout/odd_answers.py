"""Values that no host should answer: of any size, type and content; and answers that have one of them somewhere."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import strategies as st

WORDS = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(["reverted", "healthy", "\x1b[31m", "\ud800"])
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -(10**400), math.inf, math.nan])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=10,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in an answer."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))]


def with_other(answers: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Answers with another value at one place."""
    found = there = json.loads(json.dumps(answers))
    for key in path[:-1]:
        there = there[key]
    there[path[-1]] = value
    return found


HUGE = {
    "10 MB of text": "x" * 10_000_000,
    "10 MB of what is not visible": "\x1b" * 10_000_000,
    "a million items": ["x"] * 1_000_000,
    "a million objects": [{"node": "gate", "do": "start", "code": "c", "message": "m"}] * 200_000,
    "a number of 400 digits": 10**400,
    "no number": math.nan,
    "bytes that are no text": "\udcff\udcfe\x00",
    "an object": {"format": 2},
}
