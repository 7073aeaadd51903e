"""Differences that no blueprint explains: comments of the spec, files edited by hand, trees of another fleetc.

In: two sides, the evidence, and the known deltas. Out: further deltas of kind "text". Called by `compare.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fleetc.emit.tree import HOST_VARIABLES, MANIFEST, SPEC_FOLDER
from fleetc.places.origin import Origin
from fleetc.review.impact.restarts import service_of
from fleetc.review.items.deltas import Delta
from fleetc.review.items.item import Item
from fleetc.review.lines import LinePair
from fleetc.review.shown_lines import Evidence
from fleetc.review.sides import Side
from fleetc.text import leaks

_SHOWN = 12
"""The most lines of a file in the change itself; the file has all of them."""

_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
"""Bookkeeping, which means nothing to people and looks like a secret."""

NO_ORIGIN = Origin("constant", ())
"""The origin of text that no setting makes."""

BY_HAND = Origin("constant", (), "somebody edited the file by hand: the spec does not say this")
"""That of text which nothing has compiled."""


def texts_of(old: Side, new: Side, evidence: Evidence, deltas: Sequence[Delta], read: set[str]) -> list[Delta]:
    """A delta for each file, or rest of one, that nothing explains. `read` are the sources that contain edits.

    Lines without a delta next to lines with one are their context, unless the file was edited by hand or comes from
    another version.
    """
    texts = list(_texts(old, new, evidence, read))
    if not texts and not deltas:
        texts = [_of_pairs(path, evidence.pairs(path), old, new) for path in evidence.paths]
    return texts


def _texts(old: Side, new: Side, evidence: Evidence, read: set[str]) -> Iterator[Delta]:
    for path in evidence.paths:
        if path == MANIFEST:
            continue
        if path.startswith(SPEC_FOLDER):
            if path not in read:
                yield _of_pairs(path, evidence.pairs(path), old, new)
            continue
        foreign = evidence.edited(path) or old.tool != new.tool
        left = evidence.left.get(path, []) if foreign or path not in evidence.explained else []
        # Host variables differ in the digests of other files, which show the change themselves.
        bare = path not in evidence.explained and not evidence.pairs(path) and not path.startswith(HOST_VARIABLES)
        if left or bare:
            yield _of_pairs(path, left, old, new, BY_HAND if evidence.edited(path) else NO_ORIGIN)


def _of_pairs(path: str, pairs: Sequence[LinePair], old: Side, new: Side, origin: Origin = NO_ORIGIN) -> Delta:
    parts = path.split("/")
    host, node = (parts[1], parts[2]) if parts[0] == "hosts" and len(parts) > 3 else ("", "")
    process = service_of(path)
    if process is not None:  # a stack has one for each slot; its folder is not one
        node = process.node
    if path.startswith(HOST_VARIABLES):
        host = parts[-1].removesuffix(".json")
    item = Item(("text", path), host, node, "text", parts[-1] if host else path, "", origin)
    before, after = [pair.old for pair in pairs], [pair.new for pair in pairs]
    return Delta(
        item._replace(value=_joined(before)) if path in old.files else None,
        item._replace(value=_joined(after)) if path in new.files else None,
        (),
    )


def _joined(lines: Sequence[str | None]) -> str:
    shown_lines = [leaks.shown(_DIGEST.sub("(digest)", line)) for line in lines if line is not None]
    if shown_lines and not any(line.strip() for line in shown_lines):
        return "(blank line)" if len(shown_lines) == 1 else f"({len(shown_lines)} blank lines)"
    more = [f"({len(shown_lines) - _SHOWN} more lines)"] if len(shown_lines) > _SHOWN else []
    return "\n".join([*shown_lines[:_SHOWN], *more])
