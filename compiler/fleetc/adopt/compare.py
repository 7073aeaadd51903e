"""The round trip: what each process does today against what the compiled spec makes of it.

In: the adopted processes and the blueprint of their spec. Out: settings that differ, with both values and why. Where
examples stand for answers, settings that are asked for are left out, and listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fleetc.adopt.found.library import Library
from fleetc.adopt.found.questions import Difference, Reason, Why
from fleetc.adopt.node.meaning import TOKENS, compare_addresses, fill_caps, of_process, of_service
from fleetc.adopt.node.settings import ADDRESSES, Running, open_settings
from fleetc.blueprint.blueprint import Blueprint
from fleetc.language.rows import READERS
from fleetc.lower.common import GPU_ORDER
from fleetc.text import leaks
from fleetc.upstream import FLAGS

_MOST = 120
"""Characters of a value."""


@dataclass(frozen=True)
class Comparison:
    """All differences, how many settings were compared, and those that wait for an answer, by node."""

    differences: tuple[Difference, ...] = ()
    compared: int = 0
    waiting: tuple[tuple[str, str], ...] = ()


def compare(nodes: list[Running], blueprint: Blueprint, library: Library, exemplary: bool = False) -> Comparison:
    """Compare nodes with those of the same name. In an `exemplary` fleet, examples stand for answers."""
    services = {service.name: service for host in blueprint.hosts for service in host.services}
    differences: list[Difference] = []
    waiting: list[tuple[str, str]] = []
    count = 0
    for node in nodes:
        service = services.get(node.name)
        if service is None:
            continue
        before, after = of_process(node, library), of_service(node.role, service)
        compare_addresses(node, before, after)
        today = node.process.variables.get(GPU_ORDER)
        before[GPU_ORDER] = today.text if today is not None else ""
        after[GPU_ORDER] = {variable.name: variable.value for variable in service.variables}.get(GPU_ORDER, "")
        if node.role == "gateway":
            fill_caps(before, after)
        unanswered = {flag for flag, reason in node.reasons.items() if exemplary and reason.asked}
        unread = open_settings(node)
        for flag in _flags_of(node, before, after):
            if flag != TOKENS and flag.partition(" ")[0] in unanswered:
                waiting.append((node.name, flag))
                continue
            count += 1
            if before.get(flag) != after.get(flag):
                reason = _reason_of(node, flag, flag.partition(" ")[0] in unread)
                differences.append(_difference(node.name, flag, before, after, reason))
    return Comparison(tuple(differences), count, tuple(waiting))


def _flags_of(node: Running, before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """What of the settings of both sides a node reads, in order."""
    readers = READERS[node.table]
    return [flag for flag in sorted({*before, *after}) if flag not in FLAGS or readers & FLAGS[flag].roles]


def _reason_of(node: Running, flag: str, unread: bool) -> Reason | None:
    """Why a setting changes, as adopting has noted it."""
    reason = node.reasons.get(flag)
    if unread:
        return Reason(Why.UNKNOWN, (("file", " or ".join(dict.fromkeys(one.shown for one in node.unread))),))
    return None if reason is not None and reason.why is Why.REFERENCE and flag in ADDRESSES else reason


def _difference(
    node: str, flag: str, before: Mapping[str, object], after: Mapping[str, object], reason: Reason | None
) -> Difference:
    """A setting that differs; for a list, only its entries that differ."""
    pair = before.get(flag), after.get(flag)
    listed = all(isinstance(value, Mapping | tuple) for value in pair)
    today, compiled = (shown(value, None if listed else _MOST) for value in _apart(*pair))
    made = Difference(node, leaks.shown(flag), today, compiled, reason)
    return Difference(node, made.flag, "(unknown)", compiled, reason) if made.unknown else made


def _apart(one: object, other: object) -> tuple[object, object]:
    """Two lists without their common entries, or two mappings without equal keys; other values unchanged."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        apart = tuple(item for item in one if item not in other), tuple(item for item in other if item not in one)
        return apart if any(apart) else (one, other)  # which differ in their order
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = [key for key in dict.fromkeys((*one, *other)) if one.get(key) != other.get(key)]
        return {key: one.get(key) for key in keys}, {key: other.get(key) for key in keys}
    return one, other


def shown(value: object, most: int | None = _MOST) -> str:
    """A value for people, in so many characters."""
    if value is None or value in ("", (), {}):
        return "(unset)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        text = ", ".join(shown(item, most) for item in value)
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key}: {shown(item, most)}" for key, item in value.items())
    else:
        text = str(value)
    return leaks.shown(text if most is None or len(text) <= most else f"{text[: most - 3]}...")
