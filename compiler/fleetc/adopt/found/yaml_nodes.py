"""YAML with places, within bounds: what a Compose file says, and where.

In: text. Out: `Node`s of each document, with anchors resolved to the same node, so that aliases cost nothing; or
`YamlError`. Events are read in a loop, because libyaml's own tree overflows the stack on deep texts. Values stay text:
no type is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from fleetc.places.diagnostic import Span

_DEEPEST = 100
_MOST_NODES = 500_000
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlError(Exception):
    """The text is no YAML that can be read here; `place` is an offset."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.message, self.place = message, place


@dataclass(slots=True, eq=False)
class Node:
    """A value: `kind` is map, list or text. A text of None (`~` or nothing) is `empty`, `tag` is one such as !reset."""

    kind: str
    start: int
    end: int
    text: str = ""
    empty: bool = False
    tag: str = ""
    items: list[Node] = field(default_factory=list)
    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    merged: dict[str, Node] | None = None
    merging: bool = False
    source: str = ""

    def span(self, source: str) -> Span:
        """Its place; `source` is that of nodes which were made without one."""
        return Span(self.source or source, self.start, max(self.end, self.start + 1))

    def get(self, key: str) -> Node | None:
        """The value of a key of a map; None for other nodes, and where the value is empty."""
        found = self.fields().get(key)
        return None if found is None or found.empty else found

    def fields(self) -> dict[str, Node]:
        """The keys of a map with what `<<` brings in; {} for other nodes."""
        if self.kind != "map":
            return {}
        if self.merged is None:
            if self.merging:
                return {}  # it merges itself
            self.merging = True
            own: dict[str, Node] = {}
            below: dict[str, Node] = {}
            for key, value in self.pairs:
                if key.text == "<<" and key.kind == "text":
                    for other in value.items if value.kind == "list" else [value]:
                        below = {**other.fields(), **below}
                elif key.kind == "text":
                    own[key.text] = value
            self.merged = {**below, **own}
            self.merging = False
        return self.merged

    def texts(self) -> list[Node]:
        """The texts of a list, or this one text."""
        if self.kind == "text":
            return [] if self.empty else [self]
        return [item for item in self.items if item.kind == "text"]


NOTHING = Node("map", 0, 0)
"""Stands for a map, a list or a text that is not there."""
_NO_ITEMS: list[Node] = []
_NO_PAIRS: list[tuple[Node, Node]] = []
"""What all texts have, of which a file may have a million: nothing is ever put into these."""


def documents(text: str, source: str = "") -> list[Node]:
    """The root of each document. Raises YamlError."""
    try:
        return list(_documents(yaml.parse(text, Loader=_LOADER), source))
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
        place = mark.index if mark is not None else 0
        raise YamlError(str(getattr(problem, "problem", "") or "it is not YAML"), min(place, len(text))) from None


def _documents(events: Any, source: str) -> Iterator[Node]:
    stack: list[tuple[Node, list[Node]]] = []
    anchors: dict[str, Node] = {}
    count = 0

    def put(node: Node) -> Node | None:
        """Give a finished node to what is open around it; a root comes back."""
        if not stack:
            return node
        parent, waiting = stack[-1]
        if parent.kind == "list":
            parent.items.append(node)
        elif waiting:
            parent.pairs.append((waiting.pop(), node))
        else:
            waiting.append(node)
        return None

    for event in events:
        node: Node | None = None
        at, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0] and event.style is None
            node = Node("text", at, end, event.value, plain and event.value in ("", "~", "null"), event.tag or "",
                        _NO_ITEMS, _NO_PAIRS, source=source)  # fmt: skip
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                raise YamlError("an alias comes before its anchor", at)
            node = anchors[event.anchor]
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            kind = "map" if isinstance(event, yaml.MappingStartEvent) else "list"
            opened = Node(kind, at, end, tag=event.tag or "", source=source)
            if event.anchor:
                anchors[event.anchor] = opened
            stack.append((opened, []))
            count += 1
            if len(stack) > _DEEPEST:
                raise YamlError("it is nested too deeply", at)
            continue
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            node, _ = stack.pop()
            node.end = end
        if node is None:
            continue
        count += 1
        if count > _MOST_NODES:
            raise YamlError("it has too many values", node.start)
        if isinstance(event, yaml.ScalarEvent) and event.anchor:
            anchors[event.anchor] = node
        root = put(node)
        if root is not None:
            anchors.clear()
            yield root
