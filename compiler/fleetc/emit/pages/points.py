"""Connections that several nodes have in common, drawn as one point where they meet, so that a picture stays readable.

In: edges between ids, each with the names that it is about. Out: fewer edges, and the points. Called by `picture.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import NamedTuple

JOINS = "joins"
"""The kind of an edge that leads to a point; the one from there has the kind of the connection."""


class DrawnEdge(NamedTuple):
    """A connection of a kind from one id to another."""

    source: str
    target: str
    kind: str


def joined(edges: Mapping[DrawnEdge, list[str]]) -> tuple[dict[DrawnEdge, list[str]], dict[str, list[str]]]:
    """The edges and the points; many edges between the same sources and targets meet in one point.

    Ten gateways that pay the same fifty orchestrators are sixty lines and not five hundred.
    """
    sources: dict[tuple[str, str], list[str]] = {}
    for edge in edges:
        sources.setdefault((edge.target, edge.kind), []).append(edge.source)
    alike: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for (target, kind), found in sources.items():
        alike.setdefault((tuple(found), kind), []).append(target)
    result: dict[DrawnEdge, list[str]] = {}
    points: dict[str, list[str]] = {}
    for (found_sources, kind), targets in alike.items():
        pairs = {
            DrawnEdge(source, target, kind): edges[DrawnEdge(source, target, kind)]
            for source in found_sources
            for target in targets
        }
        if len(pairs) <= len(found_sources) + len(targets) + 1:
            result |= pairs
            continue
        point = f"point_{len(points) + 1}"
        points[point] = [name for names in pairs.values() for name in names]
        result |= {DrawnEdge(source, point, JOINS): _of(pairs, [source], targets, kind) for source in found_sources}
        result |= {DrawnEdge(point, target, kind): _of(pairs, found_sources, [target], kind) for target in targets}
    return result, points


def _of(edges: Mapping[DrawnEdge, list[str]], sources: Iterable[str], targets: Iterable[str], kind: str) -> list[str]:
    """The names of the edges from these sources to these targets."""
    return [name for source, target in product(sources, targets) for name in edges[DrawnEdge(source, target, kind)]]
