"""The items in which two blueprints differ, each once, with the spec edits that caused the difference.

In: the items of both blueprints and the edits between their specs. Out: `Delta`s: independent changes, each with what
follows from it. Called by `review/compare.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY
from fleetc.places.diagnostic import Path
from fleetc.places.origin import given
from fleetc.review.items.avatars import seat_pairs
from fleetc.review.items.edits import Edits, SpecEdit
from fleetc.review.items.item import Item, Key
from fleetc.review.items.of_stacks import SEAT


@dataclass(eq=False, slots=True)
class Delta:
    """An item before and after, None if it does not exist there. `follows` are items that changed along with it."""

    old: Item | None
    new: Item | None
    edits: tuple[SpecEdit, ...]
    follows: list[Delta] = field(default_factory=list)

    @property
    def item(self) -> Item:
        """The item after the change, or the removed one."""
        item = self.new or self.old
        assert item is not None  # noqa: S101  # one of the two exists
        return item

    @property
    def before(self) -> str | None:
        """Its text before."""
        return None if self.old is None else self.old.value

    @property
    def after(self) -> str | None:
        """Its text after."""
        return None if self.new is None else self.new.value

    def all(self) -> list[Delta]:
        """The delta itself and what follows from it."""
        return [self, *self.follows]


def deltas_of(old: Mapping[Key, Item], new: Mapping[Key, Item], edits: Edits) -> list[Delta]:
    """What differs, each once: nothing below an item that comes or goes, and consequences are part of their cause.

    An edit that causes nothing is a delta of kind "spec". So is an edit that only changes how the fleet is monitored,
    unless it was made to change that.
    """
    keys = [*new, *(key for key in old if key not in new)]
    changed = [key for key in keys if _differ(old.get(key), new.get(key))]
    comes_or_goes = {key for key in changed if key not in old or key not in new}
    kept = [key for key in changed if not any(key[:n] in comes_or_goes for n in range(2, _above(key)))]
    seats = [key for key in kept if key[-1] == SEAT]
    pairs = [*seat_pairs(_items(old, seats), _items(new, seats))]
    pairs += [(old.get(key), new.get(key)) for key in kept if key[-1] != SEAT]
    deltas = [Delta(before, after, edits.causes_of(before, after)) for before, after in pairs]
    for delta in deltas:
        if delta.item.kind == "host" and delta.item.presence:
            delta.edits += edits.tables_with(old.get(_stack(delta)), new.get(_stack(delta)))
    known = {
        edit
        for delta in deltas
        for edit in (*delta.edits, *edits.tables_of(delta.old, delta.new))
        if delta.item.kind != "monitoring" or edit.path[0] == "monitoring"
    }
    below = [path for delta in deltas if delta.item.presence for path in delta.item.origin.paths]
    unknown = (edit for edit in edits.all if edit not in known)
    silent = [edit for edit in unknown if not any(edit.path[: len(table)] == table for table in below)]
    return _settled(_paired([*deltas, *_of_edits(_without_consents(silent, deltas))]))


def _stack(delta: Delta) -> Key:
    """The key of the avatar stack of a host, which comes and goes with it."""
    return (*delta.item.key[:2], AVATAR_DIRECTORY)


def _above(key: Key) -> int:
    """The length of the key prefix that comes and goes as one item. A seat is reported next to its slot."""
    return len(key) - (key[-1] == SEAT)


def _items(items: Mapping[Key, Item], keys: Iterable[Key]) -> list[Item]:
    return [items[key] for key in keys if key in items]


def _without_consents(silent: Iterable[SpecEdit], deltas: Iterable[Delta]) -> Iterator[SpecEdit]:
    """The edits except those that only permit what another key of their table says: those are a cause of its change."""
    by_path: dict[Path, Delta] = {}
    for delta in sorted(deltas, key=lambda delta: delta.item.follows):
        for edit in delta.edits:
            by_path.setdefault(edit.path, delta)
    for edit in silent:
        *table, key = edit.path
        admitted = by_path.get((*table, key.removesuffix(_CONSENT))) if isinstance(key, str) else None
        if admitted is not None and str(key).endswith(_CONSENT):
            admitted.edits = (*admitted.edits, edit)
        else:
            yield edit


_CONSENT = "_exposed"
"""The suffix of keys that say that a listener is meant to be reachable by others."""


def _differ(old: Item | None, new: Item | None) -> bool:
    if old is None or new is None:
        item = old or new
        return item is not None and not item.order
    if old.order:
        before, after = old.value.split("\n"), new.value.split("\n")
        there, here = set(before), set(after)
        return [name for name in before if name in here] != [name for name in after if name in there]
    return not old.presence and old.value != new.value


def _paired(deltas: list[Delta]) -> list[Delta]:
    """Entries of one file that go and come by the same edits are one changed entry, such as a model with another id."""
    gone: dict[tuple[object, ...], list[Delta]] = {}
    for delta in deltas:
        if _is_entry(delta.item) and delta.new is None and delta.edits:
            gone.setdefault((delta.item.key[: len(_FILE)], delta.edits), []).append(delta)
    result, paired = [], set()
    for delta in deltas:
        there = gone.get((delta.item.key[: len(_FILE)], delta.edits))
        if there and _is_entry(delta.item) and delta.old is None:
            before = there.pop(0)
            paired.add(id(before))
            delta = Delta(before.old, delta.new, delta.edits)
        result.append(delta)
    return [delta for delta in result if id(delta) not in paired]


_FILE = ("node", "name", "file", "file name")
"""The shape of the key of a file, and of the request of a stream."""


_SLOT = 4
"""The length of the key of a slot: host, name, avatar, slot."""


def _is_entry(item: Item) -> bool:
    """Whether an item is an entry of a list in a file of a node or in the request of a stream."""
    return item.kind in ("file", "stream") and item.presence and len(item.key) > len(_FILE)


def _settled(deltas: list[Delta]) -> list[Delta]:
    """Attach consequences to the change of the same node with the same cause, or else to one of the fleet."""
    own = [delta for delta in deltas if not delta.item.follows]
    by_node: dict[tuple[str, SpecEdit], Delta] = {}
    by_edit: dict[SpecEdit, Delta] = {}
    by_slot = {delta.item.key[:-1]: delta for delta in own if delta.item.key[-1] == SEAT}
    for delta in own:
        for edit in delta.edits:
            by_node.setdefault((delta.item.node or delta.item.host, edit), delta)
            by_edit.setdefault(edit, delta)
    # What follows in the fleet as a whole comes last: it may follow from what follows on a node, such as an alert.
    following = (delta for delta in deltas if delta.item.follows)
    for delta in sorted(following, key=lambda delta: not (delta.item.node or delta.item.host)):
        name = delta.item.node or delta.item.host
        slot = by_slot.get(delta.item.key[:_SLOT])
        homes = (by_node.get((name, edit)) for edit in delta.edits)
        home = slot if slot and set(slot.edits) & set(delta.edits) else next((h for h in homes if h is not None), None)
        if home is None and not name:
            home = next((by_edit[edit] for edit in delta.edits if edit in by_edit), None)
        if home is not None:
            home.follows.append(delta)
            continue
        own.append(delta)
        for edit in delta.edits:
            by_node.setdefault((name, edit), delta)
            by_edit.setdefault(edit, delta)
    return own


def _of_edits(silent: Iterable[SpecEdit]) -> Iterator[Delta]:
    """The edits that no item shows; a list item that goes and one that comes at its place are one edit."""
    by_path: dict[str, Delta] = {}
    for edit in silent:
        what = ".".join(map(str, edit.path))
        host = str(edit.path[1]) if edit.path[0] == "hosts" and len(edit.path) > 1 else ""
        item = Item(("spec", what), host, "", "spec", what, "", given(*edit.path))
        known = by_path.get(what, Delta(None, None, ()))
        old = known.old if edit.old is None else item._replace(value=edit.before)
        new = known.new if edit.new is None else item._replace(value=edit.after)
        by_path[what] = Delta(old, new, (*known.edits, edit))
    yield from by_path.values()
