"""Parts of a fleet that several machines roll out at the same time, without a word between them.

In: a `Blueprint` and a number of parts. Out: the hosts of each part. Pure, so every machine finds the same parts.

Each part takes its hosts in the batches of the fleet. Shards are cut so that no two machines can stop a whole group at
once: two hosts of each group share a shard, and no batch has both.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from fleetc.blueprint.blueprint import Blueprint

_MOST = 1000


class Shard(NamedTuple):
    """One of several parts of a fleet; `number` is from 1 on."""

    number: int
    parts: int

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"


def read_shard(text: str) -> Shard:
    """A part as people write it, such as 3/10. Raises ValueError, with words for them."""
    found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]) <= _MOST:
        raise ValueError(f"it is a part and how many there are, such as 3/10, of at most {_MOST}")
    return Shard(int(found[1]), int(found[2]))


def canary_hosts(blueprint: Blueprint) -> tuple[str, ...]:
    """The hosts that a rollout changes before all others; none where the spec has no canary."""
    return blueprint.batches[0] if blueprint.canary and blueprint.batches else ()


def shards_of(blueprint: Blueprint, count: int) -> tuple[tuple[str, ...], ...]:
    """The hosts of each part in rollout order: every host is in one of them. The canary hosts are all in the first.

    What must stay together goes to the part that has the fewest hosts so far. Parts have none where the fleet cannot be
    divided further.
    """
    order = [host.name for host in blueprint.in_order]
    bundles = {name: [name] for name in order}
    canary = canary_hosts(blueprint)
    for one, other in (*pairwise(canary), *blueprint.pairs):
        if one in bundles and other in bundles and bundles[one] is not bundles[other]:
            joined = bundles[one] + bundles[other]
            bundles |= dict.fromkeys(joined, joined)
    parts: list[list[str]] = [[] for _ in range(count)]
    places = {name: place for place, name in enumerate(order)}
    for name in order:
        if min(bundles[name], key=places.__getitem__) == name:
            min(parts, key=len).extend(bundles[name])
    return tuple(tuple(sorted(part, key=places.__getitem__)) for part in parts)
