"""Which avatars are removed, added or moved to another slot or GPU: by avatar, because removals renumber slots.

In: the slot items that differ, before and after. Out: pairs of items. Called by `deltas.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleetc.review.items.item import Item

Pair = tuple[Item | None, Item | None]
"""An item before and after; None if it does not exist on that side."""


def seat_pairs(old: Iterable[Item], new: Iterable[Item]) -> Iterator[Pair]:
    """The seats of each avatar before and after: first those that come or go, then those that move.

    An avatar that takes the slot of one that goes is a change of the slot.
    """
    before, after = ({(item.host, _avatar(item)): item for item in items} for items in (old, new))
    gone = {item.key: item for name, item in before.items() if name not in after}
    swapped = {item.key for name, item in after.items() if name not in before and item.key in gone}
    yield from ((_of_avatar(item), None) for key, item in gone.items() if key not in swapped)
    for name, item in after.items():
        if name not in before and item.key not in swapped:
            yield None, _of_avatar(item)
    for name, item in after.items():
        if item.key in swapped and name not in before:
            yield _of_slot(gone[item.key]), _of_slot(item)
        elif name in before:
            yield _of_avatar(before[name]), _of_avatar(item)


def avatar_of(item: Item) -> str:
    """The avatar that an item of a pair is about."""
    return item.what if item.value.startswith(_slot(item)) else _avatar(item)


def _avatar(item: Item) -> str:
    return item.value.rpartition(" on ")[0]


def _slot(item: Item) -> str:
    return item.key[-2]


def _of_avatar(item: Item) -> Item:
    """Where an avatar is."""
    avatar, _, gpu = item.value.rpartition(" on ")
    return item._replace(kind="avatar", what=avatar, value=f"{_slot(item)} on {gpu}")


def _of_slot(item: Item) -> Item:
    """Which avatar a slot has."""
    return item._replace(kind="avatar", what=f"in {_slot(item)}")
