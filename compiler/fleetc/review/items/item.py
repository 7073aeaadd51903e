"""One element of a blueprint under its own key, and how values are split into such elements.

In: values of a blueprint. Out: `Item`s. Called by `of_blueprint.py` and `of_stacks.py` next to this file, which know
the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from fleetc.blueprint.blueprint import BlueprintFile
from fleetc.emit.artifacts import json_line, plain_decimal
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, given

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


def field_names(whole: Any) -> tuple[str, ...]:
    """The names of the fields of a dataclass or a named tuple."""
    return tuple(f.name for f in fields(whole)) if is_dataclass(whole) else tuple(whole._fields)


def by_its_looks(place: ItemPlace, name: str, value: Any) -> Iterator[Item]:
    """Items of a field that has no function: one for each plain value in it, at any depth."""
    kind = "service" if place.node else place.key[0]
    deep = _is_record(value) or (isinstance(value, tuple) and any(map(_is_record, value)))
    head = Item((*place.key, name), place.host, place.node, name if deep else kind, name, "", given(*place.path))
    yield from _taken_apart(head, value)


def _taken_apart(head: Item, value: Any) -> Iterator[Item]:
    """The plain values below an item. Records of a list are identified by name, and come and go as a whole."""
    if _is_record(value):
        head = head._replace(origin=getattr(value, "origin", head.origin))
        for name in (name for name in field_names(value) if name not in ("origin", "name")):
            yield from _taken_apart(_below(head, name), getattr(value, name))
    elif isinstance(value, tuple | list) and any(map(_is_record, value)):
        for place, entry in enumerate(value):
            name = next((str(getattr(entry, part)) for part in _NAMES if hasattr(entry, part)), str(place))
            inner = _below(head, name)
            origin = getattr(entry, "origin", head.origin)
            yield inner._replace(value=plain(entry), presence=True, origin=origin)
            yield from _taken_apart(inner, entry)
    elif value not in (None, "", (), []):
        yield head._replace(value=plain(value))


_NAMES = ("name", "flag", "file", "host", "address", "title", "what", "purpose", "text", "number")
"""Fields that distinguish the records of a list."""


def _is_record(value: Any) -> bool:
    return (is_dataclass(value) and not isinstance(value, type)) or hasattr(value, "_fields")


def _below(head: Item, name: str) -> Item:
    return head._replace(key=(*head.key, name), what=f"{head.what} {name}")


def plain(value: Any) -> str:
    """A value as text, without origins."""
    if _is_record(value):
        inner = ((name, getattr(value, name)) for name in field_names(value) if name != "origin")
        return ", ".join(f"{name} {plain(item)}" for name, item in inner if item not in (None, "", ()))
    if isinstance(value, tuple | list):
        return ", ".join(map(plain, value))
    return str(value)


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
