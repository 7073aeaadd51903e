"""The picture of a fleet: hosts as boxes, nodes in them with their states, and connections, with every place computed.

In: boxes, edges, and what the states of nodes are called. Out: `templates/html/picture.svg.j2`, filled in. The layout
depends only on its input: hosts are in columns, buyers left of sellers, and long columns are broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fleetc.emit.templates import Encoded, Templates
from fleetc.review.data import Edge
from fleetc.review.reports import wording
from fleetc.text.counting import counted, first_of

_HOSTS = 48
"""The most hosts that are drawn; those with marked nodes come first."""

_NODES = 12
_LISTED = 60
_OUTSIDE = 9
_EDGES = 150
_BOXES_IN_COLUMN = 9
_LAST_RANK = 5
_LETTERS = 26
_SENTENCE = 300
_WIDTH, _HEAD, _ROW, _PAD = 248, 30, 28, 8
_BESIDE_WORD = 20
_GAP, _BREAK, _BETWEEN, _MARGIN = 16, 20, 84, 12

_STYLES = {"pays": "solid", "outside": "solid", "finds": "dashed"}
_NAMES = {
    "outside": "works with a node outside the fleet",
    "finds": "finds orchestrators by",
    "serves": "passes work to",
    "signs": "has tickets signed by",
    "redeems": "has tickets redeemed by",
    "offers": "offers",
}

Place = tuple[int, int]


class DrawnBox(NamedTuple):
    """One host: its nodes, each with the name of its state.

    Names of nodes are unique in the fleet; what has a name on its host alone has "host/" before it. `facts` says what
    else is known of a node. `state` is that of the host itself, empty where it has none of its own.
    """

    host: str
    label: str
    nodes: tuple[tuple[str, str], ...]
    facts: Mapping[str, str] = MappingProxyType({})
    state: str = ""


class State(NamedTuple):
    """What one node and several nodes do in a state, its name in the legend, its mark, and the word beside its nodes.

    A mark is one of _MARKS. Nodes without a mark need no attention.
    """

    single: str
    many: str
    legend: str
    mark: str = ""
    word: str = ""


class Legend(NamedTuple):
    """The states that nodes can have, what comes first first; where marked hosts lead; what one or several of them do.

    The name of a state is also its class in the style of the page.
    """

    states: Mapping[str, State]
    link: str
    that: str
    those: str


def drawn(templates: Templates, boxes: Sequence[DrawnBox], edges: Sequence[Edge], legend: Legend) -> Encoded:
    """The picture with its legend, and the same as a list."""
    return Encoded(templates.render("html/picture.svg.j2", view(boxes, edges, legend)))


def view(boxes: Sequence[DrawnBox], edges: Sequence[Edge], legend: Legend) -> dict[str, object]:
    """What the template prints. Lengths are pixels; a big fleet is drawn in part, and `more` says so."""
    chosen = sorted(range(len(boxes)), key=lambda index: (_rank(boxes[index], legend), index))[:_HOSTS]
    shown = [boxes[index] for index in sorted(chosen)]
    hosts = len(shown)
    if hosts == len(boxes):
        known = {node for box in boxes for node, _ in box.nodes}
        outside = dict.fromkeys(end for edge in edges for end in edge[:2] if end not in known)
        shown += [DrawnBox("", name, ((name, ""),)) for name in list(outside)[:_OUTSIDE]]
    home = {node: index for index, box in enumerate(shown) for node in _rows(box, legend)}
    seen = [edge for edge in edges if edge.source in home and edge.target in home]
    seen = sorted(seen, key=lambda edge: not edge.state)[:_EDGES]
    seen.sort(key=lambda edge: edge.state != "")  # what changes is never left out, and lies above the rest
    ranks = _ranks(len(shown), seen, home)
    places, width, height = _places(shown, ranks)
    marked = {node for box in shown for node, state in box.nodes if _mark(state, legend)}
    present = {state for box in shown for state in (box.state, *(state for _, state in box.nodes))}
    present |= {edge.state for edge in seen}
    tops = {node: _top(node, shown[home[node]], places[home[node]], legend) for edge in seen for node in edge[:2]}
    return {
        "width": width,
        "height": height,
        "link": legend.link,
        "boxes": [
            {**_box(box, place, index >= hosts, legend), "index": index}
            for index, (box, place) in enumerate(zip(shown, places, strict=True))
        ],
        "edges": [
            _edge(edge, places[home[edge.source]], places[home[edge.target]], tops, marked, legend) for edge in seen
        ],
        "states": [
            {"name": state.legend, "class": name if state.mark else "", "mark": _MARKS[state.mark].format(x=0, y=0)}
            for name, state in legend.states.items()
            if name in present or not state.mark
        ],
        "kinds": [
            {"name": wording.clip(_NAMES.get(kind, kind), _LETTERS), "style": _STYLES.get(kind, "dotted")}
            for kind in dict.fromkeys(edge.kind for edge in seen)
        ],
        "more": _more(boxes, shown[:hosts], len(edges) - len(seen), legend),
    }


def _mark(state: str, legend: Legend) -> str:
    """The mark of a state; "" for the state of nodes outside the fleet, which have none."""
    return legend.states[state].mark if state else ""


def _rank(box: DrawnBox, legend: Legend) -> bool:
    """False for boxes with marked nodes, so that they come first."""
    return not any(_mark(state, legend) for state in (box.state, *(state for _, state in box.nodes)))


def _more(boxes: Sequence[DrawnBox], shown: Sequence[DrawnBox], edges: int, legend: Legend) -> str:
    """What is not drawn, in words."""
    parts = []
    if len(boxes) > len(shown):
        left = sum(not _rank(box, legend) for box in boxes) - sum(not _rank(box, legend) for box in shown)
        verb = legend.that if left == 1 else legend.those
        parts.append(f"{counted(len(boxes) - len(shown), 'more host')}, of which {left:,} {verb}")
    if edges:
        parts.append(counted(edges, "more connection"))
    return f"Not drawn: {' and '.join(parts)}." if parts else ""


# --- layout ---------------------------------------------------------------------------------------


def _ranks(number: int, edges: Sequence[Edge], home: Mapping[str, int]) -> list[int]:
    """For each box its column: one right of every box that points to it, as far as there are columns."""
    ranks = [0] * number
    pairs = [(home[source], home[target]) for source, target, *_ in edges]
    for _ in range(_LAST_RANK):  # as often as the longest way is long; a circle ends here too
        for source, target in pairs:
            if source != target:
                ranks[target] = min(_LAST_RANK, max(ranks[target], ranks[source] + 1))
    return ranks


def _places(boxes: Sequence[DrawnBox], ranks: Sequence[int]) -> tuple[list[Place], int, int]:
    """The left upper corner of each box, and the size of the whole."""
    places: dict[int, Place] = {}
    left, height = _MARGIN, 0
    for rank in sorted(set(ranks)):
        column = [index for index, its_rank in enumerate(ranks) if its_rank == rank]
        for start in range(0, len(column), _BOXES_IN_COLUMN):
            top = _MARGIN
            for index in column[start : start + _BOXES_IN_COLUMN]:
                places[index] = (left, top)
                top += _height(boxes[index]) + _GAP
            height = max(height, top - _GAP)
            left += _WIDTH + _BREAK
        left += _BETWEEN - _BREAK
    return [places[index] for index in range(len(boxes))], left - _BETWEEN + _MARGIN, height + _MARGIN


def _rows(box: DrawnBox, legend: Legend) -> dict[str, str]:
    """The nodes that are written, with their states; when there are too many, those that come first in the legend."""
    if len(box.nodes) <= _NODES:
        return dict(box.nodes)
    order = list(legend.states)
    return dict(sorted(box.nodes, key=lambda node: order.index(node[1]))[:_NODES])


def _height(box: DrawnBox) -> int:
    rows = min(len(box.nodes), _NODES) if box.host else 0
    return _HEAD + rows * _ROW + (_PAD - 4 if rows else 0)


# --- what is printed ------------------------------------------------------------------------------


def _short(text: str, letters: int = _LETTERS) -> str:
    return text if len(text) <= letters else f"{text[: letters - 3]}..."


def _box(box: DrawnBox, place: Place, outside: bool, legend: Legend) -> dict[str, object]:
    left, top = place
    rows = {} if outside else _rows(box, legend)
    return {
        "host": box.host,
        "label": _short(box.label),
        "full": wording.clip(_full(box, outside, legend), _SENTENCE),
        "state": box.state,
        "word": legend.states[box.state].word if box.state else "",
        "word_x": left + _WIDTH - _PAD,
        "listed": _listed(box, legend),
        "says": wording.clip(f"{box.label}, outside the fleet", _SENTENCE) if outside else _says(box, legend),
        "link": not _rank(box, legend),
        "outside": outside,
        "x": left,
        "y": top,
        "width": _WIDTH,
        "height": _height(box),
        "text_x": left + _PAD + 4,
        "text_y": top + 20,
        "nodes": [
            {
                **_node(node.removeprefix(f"{box.host}/"), state, left + _PAD, top + _HEAD + row * _ROW, legend),
                "says": _fact(node, state, box, legend),
            }
            for row, (node, state) in enumerate(rows.items())
        ],
    }


def _listed(box: DrawnBox, legend: Legend) -> list[str]:
    """The nodes of one host in words, for those who read the picture as a list."""
    shown = [_fact(node, state, box, legend) for node, state in box.nodes[:_LISTED] if state]
    more = len(box.nodes) - _LISTED
    return [*shown, *([f"and {counted(more, 'more node')}"] if more > 0 else [])]


def _full(box: DrawnBox, outside: bool, legend: Legend) -> str:
    """A host by its whole label, with what becomes of the host itself."""
    state = "outside the fleet" if outside else legend.states[box.state].single if box.state else ""
    return ", ".join(filter(None, (box.label, state)))


def _fact(node: str, state: str, box: DrawnBox, legend: Legend) -> str:
    """One node in words: its state, and what is known of it."""
    sentence = f"{node.removeprefix(f'{box.host}/')} {legend.states[state].single}"
    return wording.clip(": ".join(filter(None, (sentence, box.facts.get(node, "")))), _SENTENCE)


def _says(box: DrawnBox, legend: Legend) -> str:
    """One host in a sentence."""
    parts = [f"the host {legend.states[box.state].single}"] if box.state else []
    for name, state in legend.states.items():
        nodes = [node for node, its_state in box.nodes if its_state == name]
        if nodes:
            parts.append(f"{first_of(nodes, _NODES)} {state.single if len(nodes) == 1 else state.many}")
    return wording.clip(f"{box.label}: {', '.join(parts) or 'no nodes'}", _SENTENCE)


_MARKS = {
    "": "",
    "diamond": "M{x} {y}m0 -5l5 5l-5 5l-5 -5z",
    "triangle": "M{x} {y}m0 -5l5.5 9.5h-11z",
    "square": "M{x} {y}m-4 -4h8v8h-8z",
    "plus": "M{x} {y}m-1.7 -5.5h3.4v3.8h3.8v3.4h-3.8v3.8h-3.4v-3.8h-3.8v-3.4h3.8z",
    "cross": "M{x} {y}m0 -2.4l3 -3l2.4 2.4l-3 3l3 3l-2.4 2.4l-3 -3l-3 3l-2.4 -2.4l3 -3l-3 -3l2.4 -2.4z",
}
"""Paths around the centre of a mark; what has none gets a circle. States differ by their marks, not by colour alone."""


def _node(node: str, state: str, left: int, top: int, legend: Legend) -> dict[str, object]:
    centre_x, centre_y = left + 13, top + 12
    mark = _mark(state, legend)
    word = legend.states[state].word if state else ""
    return {
        "label": _short(node, _BESIDE_WORD if word else _LETTERS),
        "word": word,
        "word_x": left + _WIDTH - 3 * _PAD,
        "state": state if mark else "",
        "x": left,
        "y": top,
        "width": _WIDTH - 2 * _PAD,
        "height": _ROW - 4,
        "mark": _MARKS[mark].format(x=centre_x, y=centre_y),
        "mark_x": centre_x,
        "mark_y": centre_y,
        "text_x": left + 26,
        "text_y": top + 16,
    }


def _edge(
    edge: Edge, start: Place, end: Place, tops: Mapping[str, int], marked: set[str], legend: Legend
) -> dict[str, object]:
    """A curve from the right side of one node to the left side of the other, or round the right when it lies back.

    `start` and `end` are the places of their boxes. A connection with a state has its mark in the middle.
    """
    source, target, kind, state = edge
    x1, x2, y1, y2 = start[0] + _WIDTH, end[0], tops[source], tops[target]
    if x2 > start[0]:
        bend = max(30, (x2 - x1) // 2)
        curve = (x1 - _PAD, x1 + bend, x2 - bend, x2 + _PAD)
    else:
        right = x2 + _WIDTH
        curve = (x1 - _PAD, x1 + 40, right + 40, right - _PAD)
    words = (wording.clip(part, _SENTENCE // 3) for part in (source, _NAMES.get(kind, kind), target))
    return {
        "path": f"M{curve[0]} {y1}C{curve[1]} {y1} {curve[2]} {y2} {curve[3]} {y2}",
        "style": _STYLES.get(kind, "dotted"),
        "marked": source in marked or target in marked,
        "state": state,
        "mark": _MARKS[_mark(state, legend)].format(x=_middle(*curve), y=(y1 + y2) // 2),
        "title": " ".join(words) + (f" ({legend.states[state].word})" if state else ""),
    }


def _middle(start: int, from_start: int, to_end: int, end: int) -> int:
    """One coordinate half way along a cubic curve, from those of its four points."""
    return (start + 3 * from_start + 3 * to_end + end) // 8


def _top(node: str, box: DrawnBox, place: Place, legend: Legend) -> int:
    """The height at which connections of a node end."""
    if not box.host:
        return place[1] + _HEAD // 2
    return place[1] + _HEAD + list(_rows(box, legend)).index(node) * _ROW + 12
