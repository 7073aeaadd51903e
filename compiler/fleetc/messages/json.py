"""Diagnostics for programs, as JSON.

In: located diagnostics and, for the edits, what they were found in. Out: plain values, or their text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fleetc.messages.locate import NAMES, Located, Place
from fleetc.messages.repairs import Repair, repairs
from fleetc.text import leaks
from fleetc.text.encoders import json_output
from fleetc.toml.document import Document, LineMap, Source


def as_json(
    located: Sequence[Located],
    sources: Sequence[Source] = (),
    document: Document | None = None,
    more: Mapping[str, Any] | None = None,
) -> str:
    """For programs: an object with the list `diagnostics`, and with `more` behind it."""
    data = {"diagnostics": as_data(located, sources, document), **(more or {})}
    return json_output(json.dumps(data, indent=2)) + "\n"


def as_data(
    located: Sequence[Located], sources: Sequence[Source] = (), document: Document | None = None
) -> list[dict[str, Any]]:
    """Plain values for JSON; lines and columns count from 1, columns in characters.

    Each of `edits` repairs the problem; `check --fix` makes those that are `certain`.
    """
    maps = [LineMap(source.text) for source in sources]
    return [
        {
            "code": item.diagnostic.code,
            "severity": NAMES[item.diagnostic.severity],
            "message": item.diagnostic.message,
            "help": item.diagnostic.help,
            "fixable": item.diagnostic.fix is not None,
            "edits": [_edit(repair, sources, maps) for repair in some],
            "primary": json_place(item.primary),
            "related": [json_place(place) for place in item.related],
            "members": [leaks.masked(".".join(map(str, path))) for path in item.diagnostic.members],
        }
        for item, some in zip(located, repairs(located, sources, document), strict=True)
    ]


def _edit(repair: Repair, sources: Sequence[Source], maps: Sequence[LineMap]) -> dict[str, Any]:
    pieces = []
    for piece in repair.pieces:
        (line, column), (end_line, end_column) = map(maps[piece.source].position, (piece.start, piece.end))
        place = {"line": line, "column": column, "end_line": end_line, "end_column": end_column}
        pieces.append({"file": sources[piece.source].name, **place, "text": piece.text})
    return {"certain": repair.certain, "does": repair.deed, "pieces": pieces}


def json_place(place: Place) -> dict[str, Any]:
    """A place as plain values, without the source line."""
    return {key: value for key, value in place._asdict().items() if key not in ("text", "hidden")}
