"""Whether hosts of a later batch still are as they were when a sealed plan began to be carried out.

In: what hosts said then. Out: reasons by host, from fresh answers. Hosts changed since the approval stop the rollout of
the plan before it changes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from fleetc.planner.data import HostState
from fleetc.rollout.hosts.begun import Begun, begun_of
from fleetc.rollout.hosts.gate import OBSERVE
from fleetc.rollout.hosts.rolling import OBSERVE_PLAYBOOK, Rollout
from fleetc.rollout.moves import Move
from fleetc.rollout.plan.judge import differences

_NAMED = 3


def stale_hosts(
    rollout: Rollout, begun: Mapping[str, Begun], hosts: Sequence[str], moved: Iterable[Move]
) -> dict[str, str]:
    """Why some of `hosts` are not what the plan starts from any more; `moved` are nodes that this rollout stopped."""
    left: dict[str, set[str]] = {}
    for move in moved:
        left.setdefault(move.source, set()).add(move.node)
    again = begun_of(hosts, rollout.run(OBSERVE_PLAYBOOK, hosts), OBSERVE)
    reasons = {host: _why(begun[host], again[host], left.get(host, ())) for host in hosts}
    return {host: why for host, why in reasons.items() if why}


def _why(before: Begun, now: Begun, left: Collection[str]) -> str:
    """Why one host is not; "" where it is."""
    if not now.answered:
        return now.outcome.reason or "it does not answer any more"
    if before.state is None or now.state is None:
        return "its answer about its nodes is invalid"
    changed = differences(_without(before.state, left), _without(now.state, left))
    return f"it was changed after this plan began: {'; '.join(changed[:_NAMED])}; make a new plan" if changed else ""


def _without(state: HostState, nodes: Collection[str]) -> HostState:
    return replace(state, processes=tuple(process for process in state.processes if process.node not in nodes))
