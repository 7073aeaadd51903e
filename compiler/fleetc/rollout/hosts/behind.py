"""Which hosts a rollout leaves behind: silent ones, and those in quarantine, as many as `rollout.may_miss` allows.

In: a rollout, what its hosts said, and hosts that fell silent since. Out: names, or why it stops because of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from fleetc.blueprint.out import running_on
from fleetc.rollout.hosts.begun import Begun
from fleetc.rollout.hosts.rolling import Rollout
from fleetc.text.counting import counted, first_of

_NAMED = 5


def left_behind(
    rollout: Rollout, begun: Mapping[str, Begun], silent: Collection[str] = ()
) -> tuple[tuple[str, ...], str]:
    """The hosts to leave behind, and why the rollout stops instead; "" where it does not."""
    absent = (host for host, answer in begun.items() if answer.absent and not rollout.away(answer))
    gone = dict.fromkeys(host for host in (*absent, *silent, *rollout.behind) if host not in rollout.left)
    allowed, every = rollout.blueprint.may_miss, len(rollout.blueprint.hosts)
    if rollout.goal.shard:  # all parts together may miss no more
        allowed = allowed * len(begun) // every
    if not gone or not allowed:
        return (), ""
    if len(gone) > allowed:
        part = f" in the part {rollout.goal.shard}" if rollout.goal.shard else ""
        hosts = f"{counted(len(gone), 'host')} ({first_of([*gone], _NAMED)})"
        return (), f"{hosts} cannot take part, and rollout.may_miss allows {allowed}{part}"
    why = next(_needed(rollout, begun, gone), "")
    return ((), f"rollout.may_miss leaves no host behind that is needed: {why}") if why else (tuple(gone), "")


def _needed(rollout: Rollout, begun: Mapping[str, Begun], gone: Collection[str]) -> Iterator[str]:
    """What the fleet needs such hosts for. Moves are judged with the order of the rollout."""
    for host in rollout.blueprint.hosts:
        if host.name in gone:
            does = {service.name: service.exclusive for service in running_on(host).services}
            does |= dict(begun[host.name].runs)
            yield from (f"{node} on {host.name} {duties[0]}" for node, duties in does.items() if duties)
    for words, hosts in rollout.blueprint.needed:
        if set(hosts) <= set(gone):
            yield f"{words} only on {first_of(hosts, _NAMED)}"
