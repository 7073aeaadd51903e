"""One element of a blueprint under its own key, and how values are split into such elements.

In: values of a blueprint. Out: `Item`s. Called by `of_blueprint.py` and `of_stacks.py` next to this file, which know
the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from fleetc.blueprint.blueprint import BlueprintFile
from fleetc.emit.artifacts import json_line, plain_decimal
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin

Key = tuple[str, ...]
"""The key of an item: ("fleet", ...), ("host", name, ...) or ("node", name, ...). Keys below another item start with
its key, so a node that comes or goes is one change, not one per flag."""

OUT = "out of service"
"""The item that takes a host or a node out of service."""


class Item(NamedTuple):
    """One planned element. `value` is its text; `kind` and `what` describe it to people.

    `follows`: it usually follows from other items, such as a port from its flag. `presence` items only exist: their
    texts are not compared. `order` items compare by the lines they share.
    """

    key: Key
    host: str
    node: str
    kind: str
    what: str
    value: str
    origin: Origin
    follows: bool = False
    presence: bool = False
    order: bool = False


class ItemPlace(NamedTuple):
    """Whose items are split: the key above them, host and node, and the table of the spec."""

    key: Key
    host: str
    node: str
    path: Path

    def item(self, kind: str, what: str, value: str, origin: Origin, *, follows: bool = False) -> Item:
        return Item((*self.key, kind, what), self.host, self.node, kind, what, value, origin, follows)


# --- files --------------------------------------------------------------------------------------


def nearest(file: BlueprintFile, place: Path) -> Origin:
    """The origin of a part of a file, followed by the places of the whole file."""
    (near,) = file.origins_at(place)
    paths = dict.fromkeys((*near.paths, *file.origin.paths))
    return Origin(near.kind, tuple(paths), near.reason)


_IDENTITY = ("pipeline", "model_id", "gateway", "ethaddress", "name", "label")
"""Keys that distinguish the entries of a list in a file."""


class ListEntry(NamedTuple):
    """An entry of a list in a file: its place in the content, and its values."""

    place: Path
    values: dict[str, Any]


def entries_of(content: Any) -> dict[str, ListEntry]:
    """The entries of the lists in a file by what distinguishes them; values outside of lists are under ""."""
    entries: dict[str, ListEntry] = {}
    lists = [("", content)] if isinstance(content, list) else list(content.items())
    for key, value in lists:
        if not (isinstance(value, list) and all(isinstance(entry, dict) for entry in value)):
            entries.setdefault("", ListEntry((), {})).values[key] = value
            continue
        above = (key,) if key else ()
        for place, entry in enumerate(value):
            name = " ".join(str(entry[part]) for part in _IDENTITY if part in entry) or str(place)
            count = sum(1 for known in entries if known == name or known.startswith(f"{name} ("))
            entries[f"{name} ({count + 1})" if count else name] = ListEntry((*above, place), entry)
    return entries


def parts_of(file: BlueprintFile, head: Item) -> Iterator[Item]:
    """The values of a file below an item; an entry of a list in it, such as a model, comes and goes as a whole."""
    for name, entry in entries_of(file.content).items():
        if name:
            named = head._replace(key=(*head.key, name), what=f"{head.what}: {name}", presence=True)
            yield named._replace(value=leaf_text(entry.values), origin=nearest(file, entry.place))
        for leaf, value in entry.values.items():
            what = f"{head.what}: {name} {leaf}" if name else f"{head.what}: {leaf}"
            origin = nearest(file, (*entry.place, leaf))
            yield head._replace(key=(*head.key, name, leaf), what=what, value=leaf_text(value), origin=origin)


def leaf_text(value: Any) -> str:
    """A value of a file as text: plain values unchanged, all others as JSON with every digit of their numbers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return plain_decimal(value)
    return value if isinstance(value, str) else json_line(_exact(value))


def _exact(value: Any) -> Any:
    """Plain values in which every Decimal is a text, which JSON can hold."""
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(item) for item in value]
    return plain_decimal(value) if isinstance(value, Decimal) else value
