"""Which processes a rollout would restart, stop or start: exactly those whose files have another digest than before.

In: two sides and the paths that differ. Out: `Moved`. Called by `compare.py`. The manifest's digests decide, not the
files of the directory: a rollout compares with what it rolled out, so an edit by hand restarts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from compiler.plan import AVATAR_DIRECTORY
from compiler.review.data import Target
from compiler.review.side import Side


class Moved(NamedTuple):
    """Processes by what happens to them, sorted."""

    restarted: frozenset[Target]
    stopped: frozenset[Target]
    started: frozenset[Target]


def moved(old: Side, new: Side, paths: Iterable[str]) -> Moved:
    """Judge every process that a path of these belongs to. Paths are `hosts/<host>/<service>/<name>`."""
    concerned = {target for path in paths if (target := service_of(path)) is not None}
    hosts = {target.host for target in concerned}
    before, after = ({path for path in side.digests if _host_of(path) in hosts} for side in (old, new))
    before, after = ({path for path in found if service_of(path) in concerned} for found in (before, after))
    there, here = ({service_of(path) for path in found} for found in (before, after))
    differ = {service_of(p) for p in before ^ after}
    differ |= {service_of(path) for path in before & after if old.digests[path] != new.digests[path]}
    return Moved(*(
        frozenset(target for target in found if target is not None)
        for found in (differ & there & here, there - here, here - there)
    ))  # fmt: skip


def _host_of(path: str) -> str:
    return path[6 : path.find("/", 6)] if path.startswith("hosts/") else ""


def service_of(path: str) -> Target | None:
    """The process that a file below `hosts/` belongs to, else None.

    A stack has several: avatar/slot-NN for each slot, avatar/host, avatar/turn. Its lists and its packet filter restart
    none of them.
    """
    parts = path.split("/", 3)
    if len(parts) < 4 or parts[0] != "hosts":
        return None
    if parts[2] != AVATAR_DIRECTORY:
        return Target(parts[1], parts[2])
    unit = _STACK_FILE.fullmatch(parts[3])
    return Target(parts[1], f"{AVATAR_DIRECTORY}/{unit[1] or unit[2]}") if unit else None


_STACK_FILE = re.compile(r"slots/(slot-[0-9]+)\..*|(host|turn)\.env")
