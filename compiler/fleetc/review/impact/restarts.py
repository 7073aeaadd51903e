"""Which processes a rollout would restart, stop, start or change live: those whose files have another digest.

In: two sides and the paths that differ. Out: `Moved`. Called by `review/compare.py`. The manifest's digests decide, not
the directory: a rollout compares with the last one, so an edit by hand restarts nothing. No rollout reaches a host that
left the spec, so its processes keep running. A host that only has another name is still reached.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY
from fleetc.language.fleet import Fleet
from fleetc.review.data import NodeRef
from fleetc.review.impact.live import changed_live
from fleetc.review.sides import Side


class Moved(NamedTuple):
    """Processes by what happens to them.

    Those of `left` keep running on hosts that left the fleet. Those that are `live` take what changes while they run.
    """

    restarted: frozenset[NodeRef]
    stopped: frozenset[NodeRef]
    started: frozenset[NodeRef]
    left: frozenset[NodeRef]
    live: frozenset[NodeRef] = frozenset()


def moved(old: Side, new: Side, paths: Iterable[str]) -> Moved:
    """Judge every process that a path of these belongs to. Paths are `hosts/<host>/<service>/<name>`.

    What ran on a host that was renamed is the process of the host's new name.
    """
    names = renamed(old.fleet, new.fleet)
    concerned = {_known_as(target, names) for path in paths if (target := service_of(path)) is not None}
    before, after = _digests(old, concerned, names), _digests(new, concerned, {})
    there, here = ({target for target, _ in digests} for digests in (before, after))
    differ = {target for target, _ in before.keys() ^ after.keys()}
    differ |= {key[0] for key in before.keys() & after.keys() if before[key] != after[key]}
    gone = there - here
    left = {target for target in gone if f"ansible/host_vars/{target.host}.json" not in new.digests}
    changed = differ & there & here
    live = changed_live(old, new, changed, names)
    return Moved(*map(frozenset, (changed - live, gone - left, here - there, left, live)))


def renamed(old: Fleet | None, new: Fleet | None) -> dict[str, str]:
    """The hosts that have another name, with it: one name went, another came, and both lead to the same machine."""
    if old is None or new is None:
        return {}
    come = {(host.address, host.ssh_port): name for name, host in new.hosts.items() if name not in old.hosts}
    gone = ((name, host) for name, host in old.hosts.items() if name not in new.hosts)
    return {name: come[host.address, host.ssh_port] for name, host in gone if (host.address, host.ssh_port) in come}


def _known_as(target: NodeRef, names: Mapping[str, str]) -> NodeRef:
    return NodeRef(names.get(target.host, target.host), target.node)


def _digests(side: Side, concerned: Collection[NodeRef], names: Mapping[str, str]) -> dict[tuple[NodeRef, str], str]:
    """The digest of each file of some processes, by process and file. `names` are new names of hosts."""
    hosts = {target.host for target in concerned}
    digests = {}
    for path in side.digests:
        host = _host_of(path)
        if names.get(host, host) in hosts and (target := service_of(path)) is not None:
            process = _known_as(target, names)
            if process in concerned:
                digests[process, path.split("/", 3)[3]] = side.digests[path]
    return digests


def _host_of(path: str) -> str:
    return path[6 : path.find("/", 6)] if path.startswith("hosts/") else ""


def service_of(path: str) -> NodeRef | None:
    """The process that a file below `hosts/` belongs to, else None.

    A stack has several: avatar/slot-NN for each slot, avatar/host, avatar/turn. Its lists and its packet filter restart
    none of them.
    """
    parts = path.split("/", 3)
    if len(parts) < 4 or parts[0] != "hosts":
        return None
    if parts[2] != AVATAR_DIRECTORY:
        return NodeRef(parts[1], parts[2])
    unit = _STACK_FILE.fullmatch(parts[3])
    return NodeRef(parts[1], f"{AVATAR_DIRECTORY}/{unit[1] or unit[2]}") if unit else None


_STACK_FILE = re.compile(r"slots/(slot-[0-9]+)\..*|(host|turn)\.(?:env|compose\.yaml)")
