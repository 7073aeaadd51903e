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
from typing import Any

from fleetc.emit.artifacts import plain_decimal
from fleetc.review.data import IMPACTS, RULE_KINDS, WEIGHTS, Box, Change, Review, RuleNote
from fleetc.review.limits import Breach
from fleetc.review.reports import wording
from fleetc.text.encoders import json_output

FORMAT = 1
"""The version of the form. It grows when a name changes its meaning or goes; new names do not raise it."""


def as_json(review: Review, broken: Sequence[Breach] = ()) -> str:
    """The whole review: ASCII, keys in a fixed order. Nothing is left out and nothing is cut.

    `broken` are the limits that it breaks, of those that were set.
    """
    places = {change: place for place, change in enumerate(review.changes)}
    document = {
        "format": FORMAT,
        "foreign": review.foreign,
        "fleet": review.fleet,
        "baseline": review.baseline,
        "tool": review.tool,
        "files_only": review.files_only,
        "verdict": wording.verdict(review),
        "gravest": wording.gravest(review),
        "impacts": [
            {"impact": tally.impact, "changes": tally.changes, "hosts": tally.hosts}
            for tally in wording.tallies(review)
        ],
        "rules": review.rules,
        "broken": [_breach(breach, places) for breach in broken],
        "changes": review.changes,
        "files": review.files,
        "restarts": [{**_fields(target), "live_sessions": sessions} for target, sessions in review.restarts],
        "stops": review.stops,
        "live": review.live,
        "cold_starts": [{**_fields(target), "model": model} for target, model in review.cold_starts],
        "picture": {"hosts": review.picture, "edges": [edge._asdict() for edge in review.edges]},
        "notes": review.notes,
    }
    return json_output(json.dumps(document, indent=2, default=_value)) + "\n"


def _breach(breach: Breach, places: Mapping[Change, int]) -> dict[str, Any]:
    return {
        "impact": breach.limit.impact,
        "limit": str(breach.limit),
        "amount": plain_decimal(breach.amount),
        "changes": sorted(places[change] for change in breach.changes),
    }


def _value(part: Any) -> Any:
    """A part of a review as JSON has it: its fields by their names, but for the exceptions here."""
    if isinstance(part, Decimal):
        return plain_decimal(part)
    values = _fields(part)
    if isinstance(part, Change):
        del values["parts"]  # the effects at each place by itself are for plans
        values["impacts"] = wording.impacts(part)
    if isinstance(part, RuleNote):
        values["place"] = values.pop("cause")
    if isinstance(part, Box):
        values["facts"] = [{"node": node, "text": text} for node, text in part.facts]
    return values


def _fields(part: Any) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in fields(part)}


# --- the schema -----------------------------------------------------------------------------------


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what `as_json` writes; every name has its sentence."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Review of a change to a fleet",
        "description": "What fleetc diff --format json prints.",
        **_object(
            format={"const": FORMAT, "description": "Version of this format."},
            foreign=_list(
                _text("A path in the tree; a directory ends in a slash."),
                "Files that a rollout would use but the spec does not compile to; no other part covers them. If this "
                "is not empty, the review is not valid.",
            ),
            fleet=_text("Name of the fleet."),
            baseline=_text("What the spec was compared with, in words."),
            tool=_text("Version of fleetc."),
            files_only={
                "type": "boolean",
                "description": "Only files were compared, without a spec: what lines mean (prices, funds) is unknown.",
            },
            verdict=_text("The review in one sentence."),
            gravest=_text("Its most serious effect in plain words, only what is certain."),
            impacts=_list(_IMPACTS, "How often each impact class occurs, most serious first."),
            rules=_list(_RULE, "What becomes of the rules beside the spec, and what they newly find."),
            broken=_list(_BREACH, "The limits of --max-impact that the changes break, and errors that rules find."),
            changes=_list(_CHANGE, "Every change once, most serious first."),
            files=_list(_FILE, "Every file of the tree that differs, by path."),
            restarts=_list(_RESTART, "The processes that restart or stop."),
            stops=_list(_object(**_TARGETED), "Those of them that do not start again there."),
            live=_list(_object(**_TARGETED), "The processes that take what changes while they run."),
            cold_starts=_list(_COLD_START, "The warm models that load again, each once for its process."),
            picture=_PICTURE,
            notes=_list(
                _text("One sentence."),
                "What could not be compared, and what another release of the node does otherwise.",
            ),
        ),
    }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _maybe_text(description: str) -> dict[str, Any]:
    return {"type": ["string", "null"], "description": description}


def _number(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": description}


def _one_of(values: tuple[str, ...], description: str) -> dict[str, Any]:
    return {"enum": list(values), "description": description}


def _list(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_IMPACT = _one_of(IMPACTS, "An impact class; none means that no other class applies.")
_TARGETED = {
    "host": _text("The host; empty for the whole fleet."),
    "node": _text("The node on it; empty for the host itself."),
}
_IMPACTS = _object(
    impact=_IMPACT,
    changes=_number("Changes with this class."),
    hosts=_number("Hosts that these changes touch; 0 for the fleet as a whole."),
)
_SPOT = _object(
    side=_one_of(("new", "old"), "Which spec: the new one, or the one it is compared with."),
    kind=_one_of(("given", "default", "derived", "constant"), "How the place decides the value."),
    file=_text("Spec file; empty if the spec says nothing."),
    line=_number("Line from 1; 0 for the file as a whole."),
    column=_number("Column in characters from 1; 0 for the file as a whole."),
    path=_text("Key path, parts joined by dots."),
    text=_text("The source line; empty if it may contain a secret."),
    reason=_text("Why this place counts; may be empty."),
    hidden={"type": "boolean", "description": "The source line may contain a secret, so it is omitted."},
    shared=_text("The class, defaults or table for many that the place is in; empty for a place of one table."),
    members=_number("How many tables take it from there; 0 for a place of one table."),
)
_EFFECT = _object(
    impact=_IMPACT,
    text=_text("What it means, one sentence."),
    amount={
        "type": "string",
        "pattern": r"^-?[0-9]+(\.[0-9]+)?$",
        "description": "What a limit is compared with: percent for price, processes for restart and live, openings for "
        "exposure, models for cold-start, sessions and slots for capacity; 1 for the others, of funds once for each "
        "wallet.",
    },
    who=_list(_text("A node."), "Affected nodes besides the targets of the change."),
    weight=_one_of(
        WEIGHTS,
        "Within its class: critical must not be missed, worse opens or loses something, better closes something.",
    ),
    headline=_text("The same with all names, for a line that stands alone; empty if the text needs its change."),
)
_LINE = _object(
    artifact=_text("Path of the file in the tree."),
    old_line=_number("Line before, from 1; 0 if there is none."),
    new_line=_number("Line after, from 1; 0 if there is none."),
    old=_maybe_text("The line before."),
    new=_maybe_text("The line after."),
    change={
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "Index in changes, from 0, of the change that explains the line.",
    },
)
_CHANGE = _object(
    kind=_text("Kind of the thing that changes, such as argument, variable, secret, file, port, host."),
    what=_text("Its name, such as -maxPricePerUnit."),
    old=_maybe_text("Value before; null if it was absent."),
    new=_maybe_text("Value after; null if it is absent."),
    targets=_list(_object(**_TARGETED), "Every place where exactly this happens."),
    causes=_list(_SPOT, "The places of the spec, or the defaults, that cause it."),
    effects=_list(_EFFECT, "What it means, class by class."),
    lines=_list(_LINE, "Its lines in the files of the first target."),
    impacts=_list(_IMPACT, "Its classes, most serious first."),
)
_RULE = _object(
    code=_text("Code of the rule, policy/NAME."),
    kind=_one_of(RULE_KINDS, "What became of the rule, or a finding of it."),
    severity=_one_of(("error", "warning", "note"), "How bad it is; an error breaks a limit that nobody has to set."),
    text=_text("One sentence."),
    help=_text("What to write instead; may be empty."),
    place={"anyOf": [{"type": "null"}, _SPOT], "description": "Where, in a spec or in the text of a rule."},
)
_BREACH = _object(
    impact=_text("An impact class, or policy/NAME for a rule beside the spec."),
    limit=_text("The limit as it was set, such as price=5%."),
    amount={"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$", "description": "What the changes come to."},
    changes=_list(_number("Index in changes, from 0."), "The changes that break it."),
)
_FILE = _object(
    path=_text("Path in the tree."),
    state=_one_of(("added", "removed", "changed"), "What happens to the file."),
    lines=_list(_LINE, "Its changed lines in order."),
)
_RESTART = _object(
    **_TARGETED,
    live_sessions={
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "Most live sessions that can drop; null if unknown.",
    },
)
_COLD_START = _object(**_TARGETED, model=_text("The model, by its name in the spec."))
_PICTURE = _object(
    hosts=_list(
        _object(
            host=_text("The host."),
            label=_text("Its label in the diagram."),
            nodes=_list(_text("A node."), "Its nodes."),
            changed=_list(_text("A node."), "Those of its nodes that a change touches."),
            added=_list(_text("A node."), "Those of its nodes that are new."),
            removed=_list(_text("A node."), "Those of its nodes that leave the spec."),
            facts=_list(
                _object(node=_text("A node."), text=_text("Its role, prices and ports.")), "What is known of its nodes."
            ),
            state=_one_of(("", "added", "removed"), "Whether only one side has the host."),
        ),
        "Every host.",
    ),
    edges=_list(
        _object(
            source=_text("A node."),
            target=_text("A node, or something outside the fleet."),
            kind=_text("What connects them, such as pays, finds or serves."),
            state=_one_of(("", "added", "removed"), "Whether only one side has the connection."),
        ),
        "Connections between nodes.",
    ),
)
