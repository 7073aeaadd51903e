"""Which processes a rollout restarts, stops, starts or changes live, as its planner says.

In: two sides, and the hosts that a journal knows. Out: `Moved`. Called by `review/compare.py`. The record of a tree
decides, not its other files: a rollout compares with what it rolled out, so an edit by hand restarts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY
from fleetc.planner.fates import Journal, fates
from fleetc.planner.stacks import FIREWALL
from fleetc.review.data import NodeRef
from fleetc.review.sides import Side


class Moved(NamedTuple):
    """Processes by what happens to them.

    Nobody can tell whether those of `unknown` stop: they are on hosts that left the spec. Those that are `live` take
    what changes while they run. Of those that are restarted, `maybe` go on if the values of their secrets are the same.
    `halted` says why a rollout refuses to change a process. `renamed` has new names of machines, `left` whether the
    journal knows a host that left, None where nobody can tell.
    """

    restarted: frozenset[NodeRef]
    stopped: frozenset[NodeRef]
    started: frozenset[NodeRef]
    unknown: frozenset[NodeRef]
    live: frozenset[NodeRef]
    maybe: frozenset[NodeRef]
    halted: Mapping[NodeRef, str]
    renamed: Mapping[str, str]
    left: Mapping[str, bool | None]

    @property
    def all(self) -> frozenset[NodeRef]:
        """Every process that something happens to, or may."""
        return self.restarted | self.stopped | self.started | self.unknown | self.live


def moved(old: Side, new: Side, journal: Journal) -> Moved:
    """Judge every process on a host whose record differs; one that only has another project restarts."""
    planned = fates(old.files, new.files, journal)
    does: dict[str, set[NodeRef]] = {}
    halted = {}
    for host, steps in planned.steps.items():
        for step in steps:
            if step.node and step.node != FIREWALL:
                does.setdefault(step.do, set()).add(NodeRef(host, step.node))
            if step.do == "halt":
                halted[NodeRef(host, step.node)] = step.reason
    of = {do: frozenset(does.get(do, ())) for do in ("retire", "start", "restart", "ensure", "live", "unknown")}
    again = of["retire"] & of["start"]
    restarted = of["restart"] | of["ensure"] | again
    stopped, started = of["retire"] - restarted, of["start"] - restarted
    maybe = of["ensure"] - of["restart"] - again
    return Moved(restarted, stopped, started, of["unknown"], of["live"], maybe, halted, planned.renamed, planned.left)


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
