"""Diagnostics for programs, as JSON.

In: located diagnostics. Out: plain values, or their text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fleetc.messages.locate import NAMES, Located, Place
from fleetc.text import leaks
from fleetc.text.encoders import json_output


def as_json(located: Sequence[Located], more: Mapping[str, Any] | None = None) -> str:
    """For programs: an object with the list `diagnostics`, and with `more` behind it."""
    return json_output(json.dumps({"diagnostics": as_data(located), **(more or {})}, indent=2)) + "\n"


def as_data(located: Sequence[Located]) -> list[dict[str, Any]]:
    """Plain values for JSON; lines and columns count from 1, columns in characters."""
    return [
        {
            "code": item.diagnostic.code,
            "severity": NAMES[item.diagnostic.severity],
            "message": item.diagnostic.message,
            "help": item.diagnostic.help,
            "fixable": item.diagnostic.fix is not None,
            "primary": json_place(item.primary),
            "related": [json_place(place) for place in item.related],
            "members": [leaks.masked(".".join(map(str, path))) for path in item.diagnostic.members],
        }
        for item in located
    ]


def json_place(place: Place) -> dict[str, Any]:
    """A place as plain values, without the source line."""
    return {key: value for key, value in place._asdict().items() if key not in ("text", "hidden")}
