"""What a rollout of all hosts does when one tree takes the place of another, host by host.

In: the files of both trees, and the hosts that a journal knows. Out: `Fates`. A host that left the spec is retired if
the journal knows it; where no journal is at hand, nobody can tell.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from fleetc.emit.host_program import HOST_STEPS
from fleetc.emit.tree import HOST_VARIABLES, Artifact
from fleetc.planner.data import RECORDED, UNKNOWN, HostState, Step
from fleetc.planner.states import RecordError, recorded_out, recorded_place, recorded_state, steps_between

Places = Mapping[str, tuple[str, int]]
"""Address and SSH port of hosts: which machine a name means."""

Journal = Callable[[], Collection[str] | None]
"""The hosts that the journal of the fleet knows; None where there is no journal. Asked if a host left the spec."""


def no_journal() -> None:
    """Where no journal is at hand."""


class Fates(NamedTuple):
    """The steps on each host whose record differs, and on each that left; `renamed` has new names of machines.

    `left` is whether the journal knows the hosts that left, None where nobody can tell.
    """

    steps: Mapping[str, tuple[Step, ...]]
    renamed: Mapping[str, str]
    left: Mapping[str, bool | None]


def left_hosts(known: Places, here: Places) -> list[str]:
    """Of hosts that are known those that the spec no longer has, and whose machine has no other name there."""
    machines = set(here.values())
    return sorted(name for name, place in known.items() if name not in here and place not in machines)


def fates(old: Mapping[str, bytes], new: Mapping[str, bytes], journal: Journal = no_journal) -> Fates:
    """What becomes of every host, from the files of a tree and those of one that this fleetc compiled."""
    before, after = _records(old), _records(new)
    program = new.get(f"ansible/{HOST_STEPS}")
    if program is None:
        return Fates({}, {}, {})
    gone, come = (_places(side, other) for side, other in ((before, after), (after, before)))
    names = {place: name for name, place in come.items()}
    renamed = {name: names[place] for name, place in gone.items() if place in names}
    was = {now: name for name, now in renamed.items()}
    steps = {}
    for host, record in after.items():
        there = before.get(was.get(host, host))
        if there is None or there.content != record.content:
            live = str(json.loads(record.content)["fleet_host_live"])
            now = HostState(host, RECORDED) if there is None else _state(there)
            steps[host] = steps_between(program, now, recorded_state(record), live, out=recorded_out(record))
    leaving = left_hosts(gone, come)
    known = journal() if leaving else None
    left = {host: None if known is None else host in known for host in leaving}
    for host in leaving:
        do = "retire" if left[host] else "unknown"
        steps[host] = tuple(Step(do, process.node, "") for process in _state(before[host]).processes)
    return Fates(steps, renamed, left)


def _records(files: Mapping[str, bytes]) -> dict[str, Artifact]:
    """The records of a tree, by host."""
    paths = (path for path in files if path.startswith(HOST_VARIABLES))
    return {path.removeprefix(HOST_VARIABLES).removesuffix(".json"): Artifact(path, files[path]) for path in paths}


def _places(records: Mapping[str, Artifact], others: Mapping[str, Artifact]) -> Places:
    """Where hosts are that only one of two trees has; "" of one whose record is damaged."""
    places = {}
    for host in records.keys() - others.keys():
        try:
            places[host] = recorded_place(records[host])
        except RecordError:
            places[host] = "", 0
    return places


def _state(record: Artifact) -> HostState:
    try:
        return recorded_state(record)
    except RecordError as problem:
        return HostState("", UNKNOWN, note=str(problem))
