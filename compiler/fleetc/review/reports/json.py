"""A review for programs: one JSON object, and the schema that describes it.

In: a `Review`. Out: JSON text; `schema()` is what `fleetc explain --schema review` prints. Amounts are decimal strings,
because they are exact. A program skips names that it does not know; a new `format` says that known ones mean something
else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from functools import cache
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from fleetc.emit.artifacts import plain_decimal
from fleetc.review.data import Box, Change, Effect, NodeRef, Review
from fleetc.review.limits import Breach, parse_limits
from fleetc.review.reports import wording
from fleetc.text.encoders import json_output

FORMAT = 1
"""The version of the form. It grows when a name changes its meaning or goes; new names do not raise it."""
NAMES = (
    *("format", "foreign", "fleet", "baseline", "tool", "files_only", "verdict", "gravest", "impacts", "rules"),
    *("broken", "changes", "files", "restarts", "stops", "live", "cold_starts", "picture", "notes"),
)
"""What a report has, in this order: fields of the review, and what is computed from them."""


def as_json(review: Review, broken: Sequence[Breach] = ()) -> str:
    """The whole review: ASCII, keys in a fixed order. Nothing is left out and nothing is cut.

    `broken` are the limits that it breaks, of those that were set.
    """
    places = {change: place for place, change in enumerate(review.changes)}
    computed = {
        "format": FORMAT,
        "verdict": wording.verdict(review),
        "gravest": wording.gravest(review),
        "impacts": [
            {"impact": tally.impact, "changes": tally.changes, "hosts": tally.hosts}
            for tally in wording.tallies(review)
        ],
        "broken": [_breach(breach, places) for breach in broken],
        "restarts": [{**_fields(target), "live_sessions": sessions} for target, sessions in review.restarts],
        "cold_starts": [{**_fields(target), "model": model} for target, model in review.cold_starts],
        "picture": {"hosts": review.picture, "edges": [edge._asdict() for edge in review.edges]},
    }
    document = {name: computed[name] if name in computed else getattr(review, name) for name in NAMES}
    return json_output(json.dumps(document, indent=2, default=_value)) + "\n"


def _breach(breach: Breach, places: Mapping[Change, int]) -> dict[str, Any]:
    return {
        "impact": breach.limit.impact,
        "limit": str(breach.limit),
        "amount": plain_decimal(breach.amount),
        "changes": sorted(places[change] for change in breach.changes),
    }


def breaches_in(document: Mapping[str, Any]) -> tuple[Breach, ...]:
    """The broken limits in such an object, without their changes."""
    return tuple(Breach(parse_limits(each["limit"])[0], Decimal(each["amount"]), ()) for each in document["broken"])


def _value(part: Any) -> Any:
    """A part of a review as JSON has it: its fields by their names, but for the exceptions here."""
    if isinstance(part, Decimal):
        return plain_decimal(part)
    values = _fields(part)
    if isinstance(part, Change):
        del values["parts"]
        values["impacts"] = wording.impacts(part)
    if isinstance(part, Box):
        values["facts"] = [{"node": node, "text": text} for node, text in part.facts]
    return values


def _fields(part: Any) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in fields(part)}


# --- the schema -----------------------------------------------------------------------------------

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    Decimal: {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
}


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what `as_json` writes; every name has its sentence."""
    of = _shape(Review)["properties"]
    target, change, impact = _shape(NodeRef)["properties"], of["changes"]["items"]["properties"], _shape(_IMPACT)
    of["changes"]["items"] = _object(**change, impacts=_list(impact, "Its classes, most serious first."))
    restart = _object(**target, live_sessions=_shape(_SESSIONS))
    load = _object(**target, model=_text("The model, by its name in the spec."))
    computed = {
        "format": {"const": FORMAT, "description": "Version of this format."},
        "verdict": _text("The review in one sentence."),
        "gravest": _text("Its most serious effect in plain words, only what is certain."),
        "impacts": _list(
            _object(
                impact=impact,
                changes=_number("Changes with this class."),
                hosts=_number("Hosts that these changes touch; 0 for the fleet as a whole."),
            ),
            "How often each impact class occurs, most serious first.",
        ),
        "broken": _list(
            _object(
                impact=_text("An impact class, or policy/NAME for a rule beside the spec."),
                limit=_text("The limit as it was set, such as price=5%."),
                amount={
                    "type": "string",
                    "pattern": r"^[0-9]+(\.[0-9]+)?$",
                    "description": "What the changes come to.",
                },
                changes=_list(_number("Index in changes, from 0."), "The changes that break it."),
            ),
            "The limits of --max-impact that the changes break, and errors that rules find.",
        ),
        "restarts": _list(restart, "The processes that restart or stop."),
        "cold_starts": _list(load, "The warm models that load again, each once for its process."),
        "picture": _object(hosts=of["picture"], edges=of["edges"]),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Review of a change to a fleet",
        "description": "What fleetc diff --format json prints.",
        **_object(**{name: computed.get(name) or of[name] for name in NAMES}),
    }


_IMPACT = get_type_hints(Effect, include_extras=True)["impact"]
_SESSIONS = Annotated[int | None, "Most live sessions that can drop; null if unknown."]


def _shape(hint: Any) -> dict[str, Any]:
    """The schema of a type; of a record that of its fields that have a sentence."""
    of, parts = get_origin(hint), get_args(hint)
    if of is Annotated:
        kind, *words, text = parts
        return {**({"enum": list(*words)} if words else _shape(kind)), "description": text}
    if of is tuple:
        return {"type": "array", "items": _shape(parts[0])}
    if of is UnionType:
        shape = _shape(parts[0])
        null = {**shape, "type": [shape["type"], "null"]}
        return {"anyOf": [{"type": "null"}, shape]} if "properties" in shape else null
    if hint in _PLAIN:
        return _PLAIN[hint]
    hints = get_type_hints(hint, include_extras=True)
    return _object(**{name: _shape(kind) for name, kind in hints.items() if get_origin(kind) is Annotated})


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _number(description: str) -> dict[str, Any]:
    return {**_PLAIN[int], "description": description}


def _list(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}
