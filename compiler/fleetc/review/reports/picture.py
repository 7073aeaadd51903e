"""The picture of a fleet: hosts as boxes, nodes in them, connections, and what changes, with every place computed.

In: the boxes and edges of a `Review`. Out: a view for `templates/html/picture.svg.j2`. The layout is ours and depends
on its input alone: hosts stand in columns, buyers left of those they buy from, and long columns are broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fleetc.review.data import Box
from fleetc.review.reports import wording

_HOSTS = 48
"""The most hosts that are drawn; those that change come first."""

_NODES = 12
_OUTSIDE = 9
_EDGES = 150
_BOXES_IN_COLUMN = 9
_LAST_RANK = 5
_LETTERS = 26
_SENTENCE = 300
_WIDTH, _HEAD, _ROW, _PAD = 204, 30, 28, 8
_GAP, _BREAK, _BETWEEN, _MARGIN = 16, 20, 84, 12

_STYLES = {"pays": "solid", "outside": "solid", "finds": "dashed"}
_NAMES = {
    "outside": "works with a node outside the fleet",
    "finds": "finds orchestrators by",
    "serves": "passes work to",
    "signs": "has tickets signed by",
    "redeems": "has tickets redeemed by",
}

Edge = tuple[str, str, str]
Place = tuple[int, int]


def view(boxes: Sequence[Box], edges: Sequence[Edge]) -> dict[str, object]:
    """What the template prints. Lengths are pixels; a big fleet is drawn in part, and `more` says so."""
    chosen = sorted(range(len(boxes)), key=lambda index: (not boxes[index].changed, index))[:_HOSTS]
    drawn = [boxes[index] for index in sorted(chosen)]
    hosts = len(drawn)
    if hosts == len(boxes):
        known = {node for box in boxes for node in box.nodes}
        outside = dict.fromkeys(end for edge in edges for end in edge[:2] if end not in known)
        drawn += [Box("", name, (name,), ()) for name in list(outside)[:_OUTSIDE]]
    home = {node: index for index, box in enumerate(drawn) for node in box.nodes[:_NODES]}
    seen = [edge for edge in edges if edge[0] in home and edge[1] in home][:_EDGES]
    ranks = _ranks(len(drawn), seen, home)
    places, width, height = _places(drawn, ranks)
    changed = {node for box in drawn for node in box.changed}
    return {
        "width": width,
        "height": height,
        "boxes": [
            _box(box, place, index >= hosts) for index, (box, place) in enumerate(zip(drawn, places, strict=True))
        ],
        "edges": [_edge(edge, drawn, places, home, changed) for edge in seen],
        "kinds": [
            {"name": wording.clip(_NAMES.get(kind, kind), _LETTERS), "style": _STYLES.get(kind, "dotted")}
            for kind in dict.fromkeys(edge[2] for edge in seen)
        ],
        "more": _more(boxes, drawn[:hosts], len(edges) - len(seen)),
    }


def _more(boxes: Sequence[Box], drawn: Sequence[Box], edges: int) -> str:
    """What is not drawn, in words."""
    said = []
    if len(boxes) > len(drawn):
        changed = sum(bool(box.changed) for box in boxes) - sum(bool(box.changed) for box in drawn)
        verb = "changes" if changed == 1 else "change"
        said.append(f"{wording.count(len(boxes) - len(drawn), 'more host')}, of which {changed:,} {verb}")
    if edges:
        said.append(wording.count(edges, "more connection"))
    return f"Not drawn: {' and '.join(said)}." if said else ""


# --- layout ---------------------------------------------------------------------------------------


def _ranks(number: int, edges: Sequence[Edge], home: Mapping[str, int]) -> list[int]:
    """For each box its column: one right of every box that points to it, as far as there are columns."""
    ranks = [0] * number
    pairs = [(home[source], home[target]) for source, target, _ in edges]
    for _ in range(_LAST_RANK):  # as often as the longest way is long; a circle ends here too
        for source, target in pairs:
            if source != target:
                ranks[target] = min(_LAST_RANK, max(ranks[target], ranks[source] + 1))
    return ranks


def _places(boxes: Sequence[Box], ranks: Sequence[int]) -> tuple[list[Place], int, int]:
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


def _rows(box: Box) -> tuple[str, ...]:
    """The nodes that are written; when there are too many, those that change come first."""
    if len(box.nodes) <= _NODES:
        return box.nodes
    return tuple(sorted(box.nodes, key=lambda node: node not in box.changed)[:_NODES])


def _height(box: Box) -> int:
    rows = len(_rows(box)) if box.host else 0
    return _HEAD + rows * _ROW + (_PAD - 4 if rows else 0)


# --- what is printed ------------------------------------------------------------------------------


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 3]}..."


def _box(box: Box, place: Place, outside: bool) -> dict[str, object]:
    left, top = place
    rows = () if outside else _rows(box)
    return {
        "host": box.host,
        "label": _short(box.label),
        "says": wording.clip(f"{box.label}, outside the fleet", _SENTENCE) if outside else _says(box),
        "link": bool(box.changed),
        "outside": outside,
        "x": left,
        "y": top,
        "width": _WIDTH,
        "height": _height(box),
        "text_x": left + _PAD + 4,
        "text_y": top + 20,
        "nodes": [
            _node(node, left + _PAD, top + _HEAD + row * _ROW, node in box.changed) for row, node in enumerate(rows)
        ],
    }


def _says(box: Box) -> str:
    """One host in words, for those who read the picture as a list."""
    same = [node for node in box.nodes if node not in box.changed]
    parts = []
    if box.changed:
        parts.append(f"{wording.names(box.changed, _NODES)} {'changes' if len(box.changed) == 1 else 'change'}")
    if same:
        verb = "stays as it is" if len(same) == 1 else "stay as they are"
        parts.append(f"{wording.names(same, _NODES)} {verb}")
    return wording.clip(f"{box.label}: {', '.join(parts) or 'no nodes'}", _SENTENCE)


def _node(node: str, left: int, top: int, changed: bool) -> dict[str, object]:
    centre_x, centre_y = left + 13, top + 12
    return {
        "label": _short(node),
        "changed": changed,
        "x": left,
        "y": top,
        "width": _WIDTH - 2 * _PAD,
        "height": _ROW - 4,
        "mark": f"M{centre_x} {centre_y - 5}l5 5l-5 5l-5 -5z",
        "mark_x": centre_x,
        "mark_y": centre_y,
        "text_x": left + 26,
        "text_y": top + 16,
    }


def _edge(
    edge: Edge, boxes: Sequence[Box], places: Sequence[Place], home: Mapping[str, int], changed: set[str]
) -> dict[str, object]:
    """A curve from the right side of one node to the left side of the other, or round the right when it lies back."""
    source, target, kind = edge
    (x1, y1), (x2, y2) = (_anchor(end, boxes[home[end]], places[home[end]]) for end in (source, target))
    start = x1 + _WIDTH
    if x2 > x1:
        bend = max(30, (x2 - start) // 2)
        path = f"M{start - _PAD} {y1}C{start + bend} {y1} {x2 - bend} {y2} {x2 + _PAD} {y2}"
    else:
        end = x2 + _WIDTH
        path = f"M{start - _PAD} {y1}C{start + 40} {y1} {end + 40} {y2} {end - _PAD} {y2}"
    return {
        "path": path,
        "style": _STYLES.get(kind, "dotted"),
        "changed": source in changed or target in changed,
        "title": " ".join(wording.clip(part, _SENTENCE // 3) for part in (source, _NAMES.get(kind, kind), target)),
    }


def _anchor(node: str, box: Box, place: Place) -> Place:
    """The left edge of a box at the height of one of its nodes."""
    rows = _rows(box)
    row = rows.index(node) if box.host and node in rows else 0
    return place[0], place[1] + (_HEAD + row * _ROW + 12 if box.host else _HEAD // 2)
