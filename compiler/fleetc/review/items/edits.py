"""What was edited in the spec, and which of the edits caused a change.

In: two documents. Out: `SpecEdit`s by key path, `causes_of` an item, and the `Cause` of each. Called by
`review/compare.py`.

An item's origin names the places that it follows from. Those that were edited are its causes; of several, the nearest.
If an item comes or goes with its own table, that table is the cause, whatever else names it. If an item follows from
another table, such as another wallet, the line that names the table is the cause. If it moved in a list, the cause is
the entry added or removed before it. If the origin of a value does not name its cause (such as a default that another
node changed), the edits that mention the node are. A single edit is always the cause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin
from fleetc.review.data import Cause
from fleetc.review.items.item import Item
from fleetc.review.lines import shared_ends
from fleetc.text import leaks
from fleetc.toml.document import Document

_FEW = 4
"""The most edits that may be the cause of an item that none mentions."""


_TABLE = 2
"""The length of the path of a named table, such as orchestrators.orch."""


class SpecEdit(NamedTuple):
    """One value that was changed, added (`old` is None) or removed (`new` is None): its path on either side.

    The texts are the values; the tables and lists above a value are not separate edits.
    """

    old: Path | None
    new: Path | None
    before: str
    after: str

    @property
    def path(self) -> Path:
        """The path after the change, or the removed one."""
        return self.new if self.new is not None else self.old or ()


def edits_of(old: Document, new: Document) -> tuple[SpecEdit, ...]:
    """Every difference between two documents."""
    return tuple(_differing(old.raw, new.raw, (), ()))


def _differing(old: Any, new: Any, before: Path, after: Path) -> Iterator[SpecEdit]:
    if old == new and type(old) is type(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in new:
                yield SpecEdit((*before, key), None, text_of(old[key]), "")
            elif key not in old:
                yield SpecEdit(None, (*after, key), "", text_of(new[key]))
            else:
                yield from _differing(old[key], new[key], (*before, key), (*after, key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(old, new, before, after)
    else:
        yield SpecEdit(before, after, text_of(old), text_of(new))


def _of_lists(old: list[Any], new: list[Any], before: Path, after: Path) -> Iterator[SpecEdit]:
    """The items between the common start and the common end; equally many on both sides are pairs."""
    first, last = shared_ends(old, new)
    gone, come = old[first : len(old) - last], new[first : len(new) - last]
    if len(gone) == len(come):
        for place, (a, b) in enumerate(zip(gone, come, strict=True), first):
            yield from _differing(a, b, (*before, place), (*after, place))
        return
    for place, value in enumerate(gone, first):
        yield SpecEdit((*before, place), None, text_of(value), "")
    for place, value in enumerate(come, first):
        yield SpecEdit(None, (*after, place), "", text_of(value))


def text_of(value: Any) -> str:
    """A value of a spec as text in spec style; secrets are hidden."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {text_of(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return leaks.shown(str(value))


class Edits:
    """The edits of a spec, found by the origin of an item. Fast even if thousands of values were edited."""

    def __init__(self, edits: Sequence[SpecEdit]) -> None:
        self.all = tuple(edits)
        self._at: dict[Path, list[SpecEdit]] = {}
        self._below: dict[Path, list[SpecEdit]] = {}
        self._swaps: dict[tuple[str | None, str | None], list[SpecEdit]] = {}
        self._named: dict[str, list[SpecEdit]] = {}
        for edit in self.all:
            for texts in ((edit.before, edit.after), (edit.before, None), (None, edit.after)):
                self._swaps.setdefault(texts, []).append(edit)
            for path in dict.fromkeys(path for path in (edit.old, edit.new) if path is not None):
                self._at.setdefault(path, []).append(edit)
                for length in range(len(path) + 1):
                    self._below.setdefault(path[:length], []).append(edit)
            words = {str(part) for part in edit.path} | set(_WORD.findall(f"{edit.before} {edit.after}"))
            for word in words:
                self._named.setdefault(word, []).append(edit)

    def touching(self, path: Path) -> list[SpecEdit]:
        """The edits at a path, below it, or of a table above it that came or went."""
        return list(dict.fromkeys((*self._below.get(path, ()), *self._above(path))))

    def _above(self, path: Path) -> Iterator[SpecEdit]:
        """The edits of a table above a path that came or went."""
        for length in range(1, len(path)):
            yield from self._at.get(path[:length], ())

    def tables_of(self, old: Item | None, new: Item | None) -> tuple[SpecEdit, ...]:
        """The tables that came or went with what an item says, whether or not they are its cause."""
        paths = (path for item in (old, new) if item is not None for path in item.origin.paths)
        return tuple(dict.fromkeys(edit for path in paths for edit in self._above(path)))

    def tables_with(self, old: Item | None, new: Item | None) -> tuple[SpecEdit, ...]:
        """The table of an item, or one above it, if it came or went with the item."""
        edits = (*self.tables_of(old, new), *self.table_of(old, new))
        return tuple(edit for edit in edits if None in (edit.old, edit.new))

    def moving(self, path: Path) -> list[SpecEdit]:
        """The entries that came or went before or at a place in a list: what is there now was somewhere else."""
        for length in range(len(path) - 1, 0, -1):
            place = path[length]
            if isinstance(place, int):
                edits = (edit for before in range(place + 1) for edit in self._at.get((*path[:length], before), ()))
                moved = [edit for edit in edits if None in (edit.old, edit.new)]
                if moved:
                    return moved
        return []

    def table_of(self, old: Item | None, new: Item | None) -> list[SpecEdit]:
        """The edit by which the item's own table came or went with it, whatever else names that table."""
        item = new or old
        if item is None or not item.presence or (old is not None and new is not None):
            return []
        own = [path for path in item.origin.paths[:1] if len(path) == _TABLE]
        return [edit for path in own for edit in self._at.get(path, ()) if (edit.old is None) == (old is None)]

    def referring(self, old: Item | None, new: Item | None) -> list[SpecEdit]:
        """The edits by which the item's node or stream names another table than before, such as its wallet."""
        item = new or old
        if item is None:
            return []
        pairs = zip(self._tables(old), self._tables(new), strict=False)
        names: set[tuple[str | None, str | None]] = {(a[1], b[1]) for a, b in pairs if a[0] == b[0] and a[1] != b[1]}
        if old is None or new is None:
            came = {table[1] for table in self._tables(item) if table in self._at}
            names = {(None, name) if old is None else (name, None) for name in came}
        swaps = [edit for pair in sorted(names, key=str) for edit in self._swaps.get(pair, ())]
        own = [edit for edit in swaps if any(name in item.key for name in edit.path[1:2])]
        return list(dict.fromkeys(own or swaps))

    def _tables(self, item: Item | None) -> list[tuple[str, str]]:
        """The named tables that an item follows from, such as (wallets, payer)."""
        return [(str(path[0]), str(path[1])) for path in (item.origin.paths if item else ()) if len(path) > 1]

    def speaking_of(self, *names: str) -> list[SpecEdit]:
        """The edits whose path or value contains one of the names."""
        return list(dict.fromkeys(edit for name in names if name for edit in self._named.get(name, ())))

    def causes_of(self, old: Item | None, new: Item | None) -> tuple[SpecEdit, ...]:
        """The edits that changed an item; none if no part of the spec did."""
        item = new or old
        if item is None or not self.all:
            return ()
        near = self.table_of(old, new) or self.referring(old, new)
        if near:
            return tuple(near)
        paths = [path for i in (new, old) if i is not None for path in i.origin.paths]
        ranked = [(len(path), edit) for path in paths for edit in self.touching(path)]
        ranked = [pair for pair in ranked if _tells(pair[1], old, new)] or ranked
        if ranked:
            most = max(length for length, _ in ranked)
            return tuple(dict.fromkeys(edit for length, edit in ranked if length == most))
        moving = [edit for path in paths for edit in self.moving(path)]
        if moving:
            return tuple(dict.fromkeys(moving))
        named = self.speaking_of(item.node, item.host if not item.node else "")
        if named:
            return tuple(named)
        return self.all if len(self.all) <= _FEW else ()


_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def _tells(edit: SpecEdit, old: Item | None, new: Item | None) -> bool:
    """Whether the texts of an edit contain those of the item, which distinguishes it from others nearby."""
    pairs = ((old, edit.before), (new, edit.after))
    values = [(item.value, set(_WORD.findall(text))) for item, text in pairs if item is not None and not item.presence]
    return bool(values) and all(len(value) > 1 and value in words for value, words in values)


class Atlas:
    """Turns edits and origins into spots with their source lines; lines that may contain a secret have no text."""

    def __init__(self, old: Document | None, new: Document | None) -> None:
        self._documents = {"old": old, "new": new}
        self._members: dict[str, Counter[Path]] = {}

    def spots(self, edits: Iterable[SpecEdit], origin: Origin | None) -> tuple[Cause, ...]:
        """The places of some edits; without edits, the places that the origin names."""
        kind, reason = (origin.kind, origin.reason) if origin else ("given", "")
        spots = [
            self.spot("old", e.old or (), kind, reason) if e.new is None else self.spot("new", e.new, kind, reason)
            for e in edits
        ]
        if not spots and origin is not None:
            spots = [self.spot("new", path, kind, reason) for path in origin.paths[:1]]
        return tuple(spot for spot in dict.fromkeys(spots) if spot is not None)

    def spot(self, side: str, path: Path, kind: str, reason: str) -> Cause | None:
        """The place of a path; None if that side has no document."""
        document = self._documents[side]
        if document is None:
            return None
        span = document.nearest(path)
        line, column = document.position(span.source, span.start)
        text = document.line_text(span.source, line)
        last = path[-1] if path else ""
        secret = leaks.find(text) or leaks.find(".".join(map(str, path)))
        at = document.said_at(path) or path
        name = ".".join(map(leaks.shown, map(str, at)))
        hidden = bool(secret or (isinstance(last, str) and leaks.names_secret(last) and "{" not in text))
        shared, members = self._shared(side, document, at, path)
        shown_text = "" if hidden else leaks.masked(text)
        return Cause(side, kind, span.source, line, column, name, shown_text, reason, hidden, shared, members)

    def _shared(self, side: str, document: Document, at: Path, path: Path) -> tuple[str, int]:
        """What a value is taken from by several tables, and how many these are."""
        layer = next((above for above in document.layers.get(path[:2], ()) if at[: len(above)] == above), path[:2])
        if layer == path[:2]:
            return "", 0
        if side not in self._members:
            self._members[side] = Counter(above for layers in document.layers.values() for above in layers)
        return leaks.shown(str(layer[1])), self._members[side][layer]
