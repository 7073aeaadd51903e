"""Differences that people made because `fleetc check` asked for them.

In: a comparison, the adoption that it is of, and what check says of the compared spec. Out: the same comparison, where
a difference has that reason if it is proved: with what the sources say in place of all that nobody has explained, check
of that spec says a code of this node whose help names the field, and as the spec stands it does not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fleetc.adopt.adoption import Adopted
from fleetc.adopt.against import Compared, Pair
from fleetc.adopt.compare import Difference
from fleetc.adopt.price_lists import CAPS, MODELS, list_of
from fleetc.adopt.values import rows_of
from fleetc.language.rows import DECISIONS
from fleetc.language.spec import read_fleet
from fleetc.pipeline import Checked, judge
from fleetc.places.diagnostic import Diagnostic, Severity

ADVISED = "check asked for it ({})"
"""The reason, with the code of what check says."""
_NAMES = r"\b(?:write|raise|lower|or|and) {}(?: =|\.| to\b|:)"
"""How a help names a field that is to change."""
_CAPS_KEY = "max_model_prices"
_OF_MODELS = frozenset({_CAPS_KEY, "models"})
_OF_MODEL = re.compile(rf"\b{_CAPS_KEY}(?:\.| = {{ )([A-Za-z0-9_-]+)")


def advised(compared: Compared, found: Adopted, checked: Checked) -> Compared:
    """The comparison with the reasons that are proved by what was `checked`, the compared spec."""
    changed = [one for one in compared.differences if not one.reason]
    if not changed or checked.document is None or found.checked is None or found.checked.document is None:
        return compared
    pairs = {pair.node.service.name: pair for pair in compared.pairs}
    raw = _as_sources_say(changed, pairs, checked.document.raw, found.checked.document.raw)
    document = replace(checked.document, raw=raw)
    fleet, _ = read_fleet(document)
    if fleet is None:
        return compared
    left = {(one.code, _node_of(one)) for one in checked.diagnostics}
    gone = [one for one in judge(document, fleet) if (one.code, _node_of(one)) not in left]
    proved = {one: _code(one, pairs[one.node], gone, raw) for one in changed}
    differences = (
        replace(one, reason=ADVISED.format(code)) if (code := proved.get(one, "")) else one
        for one in compared.differences
    )
    return replace(compared, differences=tuple(differences))


def is_advised(reason: str) -> bool:
    """Whether a reason is that check asked for a difference."""
    return reason.startswith(ADVISED.partition("{")[0])


def _as_sources_say(
    changed: Sequence[Difference], pairs: Mapping[str, Pair], spec: Mapping[str, Any], fresh: Mapping[str, Any]
) -> dict[str, Any]:
    """The tables of a spec, with what adopting writes in place of the fields of settings that differ."""
    raw = {kind: {**tables} if isinstance(tables, Mapping) else tables for kind, tables in spec.items()}
    known = {_model(values): name for name, values in spec.get("models", {}).items()}
    names = {name: known.get(_model(values), name) for name, values in fresh.get("models", {}).items()}
    for one in changed:
        pair = pairs[one.node]
        table = pair.node.service.table
        values, ours = {**raw[table][one.node]}, fresh.get(table, {}).get(pair.today.name, {})
        for key in {field.partition(".")[0] for field in _fields(table, one.flag)}:
            values.pop(key, None)
            if key in ours:
                values[key] = _renamed(ours[key], names) if key in _OF_MODELS else ours[key]
        raw[table][one.node] = values
    if any(list_of(one.flag) == MODELS for one in changed):  # their prices are in tables of their own
        there = raw.setdefault("models", {})
        for name, values in fresh.get("models", {}).items():
            there[names[name]] = {**there.get(names[name], {}), **values}
    return raw


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """What names models, with the names that the spec gives these."""
    if isinstance(value, Mapping):
        return {names.get(key, key): _renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def _fields(table: str, flag: str) -> Iterator[str]:
    """The fields of a node that have a setting."""
    name = list_of(flag)
    row = rows_of(table).get(name)
    if row is not None:
        yield row.field
    yield from (field for decision in DECISIONS if decision.flag == name for field in decision.fields)


def _model(values: Mapping[str, Any]) -> str:
    return f"{values.get('pipeline')} {values.get('id')}"


def _node_of(one: Diagnostic) -> tuple[str, ...]:
    place = one.primary.place
    return tuple(map(str, place[:2])) if isinstance(place, tuple) else ()


def _code(one: Difference, pair: Pair, gone: Collection[Diagnostic], raw: Mapping[str, Any]) -> str:
    """The code of what asks for a difference, of all that is said no more; "" for none."""
    table = pair.node.service.table
    for said in gone:
        if said.severity not in (Severity.WARNING, Severity.ERROR) or _node_of(said) != (table, one.node):
            continue
        if any(re.search(_NAMES.format(re.escape(field)), said.help) for field in _fields(table, one.flag)) and (
            list_of(one.flag) != CAPS or one.flag in _caps_named(said.help, raw)
        ):
            return said.code
    return ""


def _caps_named(help_: str, raw: Mapping[str, Any]) -> set[str]:
    """The settings of caps whose models a help names."""
    models = raw.get("models", {})
    return {f"{CAPS} {_model(models[name])}" for name in _OF_MODEL.findall(help_) if name in models}
