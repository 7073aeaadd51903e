"""YAML with places, within bounds: what a Compose file says, and where.

In: text. Out: `Node`s of each document, with anchors resolved to the same node, so that aliases cost nothing; or
`YamlError`. Values stay text: no type is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from fleetc.places.diagnostic import Span

_DEEPEST = 100
_MOST_EVENTS = 500_000
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


def documents(text: str, source: str = "") -> list[Node]:
    """The root of each document. Raises YamlError."""
    try:
        _refuse_deep(text)
        return [_node(root, source, {}) for root in yaml.compose_all(text, Loader=_LOADER)]
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
        place = mark.index if mark is not None else 0
        raise YamlError(str(getattr(problem, "problem", "") or "it is not YAML"), min(place, len(text))) from None


def first_document(text: str, source: str = "") -> Node:
    """The root of the first document; NOTHING where there is none, or the text is no YAML."""
    try:
        return next(iter(documents(text, source)), NOTHING)
    except YamlError:
        return NOTHING


def _refuse_deep(text: str) -> None:
    """Refuse a text whose tree would overflow the stack, or the memory."""
    depth = 0
    event: Any
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST or count > _MOST_EVENTS:
            problem = "it is nested too deeply" if depth > _DEEPEST else "it has too many values"
            raise YamlError(problem, event.start_mark.index)


def _node(found: Any, source: str, known: dict[int, Node]) -> Node:
    """A node of the YAML library as one of these; `known` are those of anchors, by the id of that node."""
    if id(found) in known:
        return known[id(found)]
    kind = {yaml.MappingNode: "map", yaml.SequenceNode: "list"}.get(type(found), "text")
    tag = found.tag if found.tag.startswith("!") else ""
    node = known[id(found)] = Node(kind, found.start_mark.index, found.end_mark.index, tag=tag, source=source)
    if kind == "map":
        node.pairs = [(_node(key, source, known), _node(value, source, known)) for key, value in found.value]
    elif kind == "list":
        node.items = [_node(item, source, known) for item in found.value]
    else:
        node.text, node.empty = found.value, found.tag.endswith(":null") and found.style is None
    return node
