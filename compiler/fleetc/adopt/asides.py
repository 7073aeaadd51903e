"""What changes beside the settings of nodes, in few lines: each thing once, with all nodes that it is true of.

In: `Beside`s and the nodes of a fleet. Out: lines for the first screen; the report has each node by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from fleetc.adopt.beside import Beside
from fleetc.text.encoders import visible

_MOST_NAMES = 4
_EVERY = 3
"""So many nodes are called every node, where they are all."""


def told(found: Sequence[Beside], every: Collection[str]) -> Iterator[str]:
    """A line for each topic, then those with other values; `every` are all nodes."""
    topics: dict[str, dict[str, list[str]]] = {}
    for one in found:
        if one.what.topic:
            topics.setdefault(one.what.topic, {}).setdefault(one.what.detail, []).append(one.node)
    for topic, details in topics.items():
        (first, nodes), *others = details.items()
        begin = f"  {named(nodes, every)}: {topic}" + (f" {visible(first)}" if first else "")
        yield "; ".join([begin, *(f"{named(nodes, every)}: {visible(detail)}" for detail, nodes in others)])
    yield from _altered(found, every)


def named(nodes: Sequence[str], every: Collection[str] = ()) -> str:
    """Nodes in few words."""
    if len(nodes) >= _EVERY and set(nodes) == set(every):
        return "every node"
    more = f" and {len(nodes) - _MOST_NAMES} more" if len(nodes) > _MOST_NAMES else ""
    return ", ".join(nodes[:_MOST_NAMES]) + more


def _altered(found: Iterable[Beside], every: Collection[str]) -> Iterator[str]:
    """What has another value: by nodes where it had one value, and by key where it had several."""
    keys: dict[tuple[str, str], dict[str, list[str]]] = {}
    for one in found:
        for key, today, then in one.what.values:
            keys.setdefault((key, then), {}).setdefault(today, []).append(one.node)
    alike: dict[tuple[str, ...], list[str]] = {}
    for (key, then), values in keys.items():
        if len(values) == 1:
            ((today, nodes),) = values.items()
            alike.setdefault(tuple(nodes), []).append(f"{visible(key)} {today} -> {then}")
    for names, changes in alike.items():
        yield f"  {named(names, every)}: {', '.join(changes)}"
    for (key, then), values in keys.items():
        if len(values) > 1:
            each = (f"{_with_and(nodes)} {today}" for today, nodes in values.items())
            yield f"  {visible(key)}: {', '.join(each)} -> {then}"


def _with_and(nodes: Sequence[str]) -> str:
    """Nodes in front of a value, in a list of such."""
    *first, last = nodes if len(nodes) <= _MOST_NAMES else [*nodes[:_MOST_NAMES], f"{len(nodes) - _MOST_NAMES} more"]
    return f"{', '.join(first)} and {last}" if first else last
