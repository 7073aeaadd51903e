"""Which hosts a rollout leaves behind: silent ones, and those in quarantine, as many as `rollout.may_miss` allows.

In: a rollout, what its hosts said, and hosts that fell silent since. Out: `Rollout.behind`, or why it stops for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from fleetc.blueprint.out import running_on
from fleetc.blueprint.shards import canary_hosts
from fleetc.rollout.findings import NOT_REACHED
from fleetc.rollout.hosts.begun import Begun
from fleetc.rollout.hosts.gate import HostOutcome
from fleetc.rollout.hosts.rolling import Rollout
from fleetc.rollout.moves import Move
from fleetc.text.counting import counted, first_of

_NAMED = 5


def leave_behind(rollout: Rollout, begun: Mapping[str, Begun], silent: Collection[str] = ()) -> str:
    """Decide which hosts are left behind; why the rollout stops for them instead, "" where it does not."""
    absent = (host for host, answer in begun.items() if answer.absent and not rollout.away(answer))
    gone = tuple(dict.fromkeys(host for host in (*rollout.behind, *absent, *silent) if host not in rollout.left))
    allowed = rollout.blueprint.may_miss
    if rollout.goal.shard:  # all parts together may miss no more
        allowed = allowed * len(begun) // len(rollout.blueprint.hosts)
    if not gone or not allowed:
        return ""
    if len(gone) > allowed:
        hosts = f"{counted(len(gone), 'host')} ({first_of(gone, _NAMED)})"
        return f"{hosts} cannot take part, and rollout.may_miss allows {allowed}"
    for why in _needed(rollout, begun, gone):
        return f"rollout.may_miss leaves no host behind that is needed: {why}"
    rollout.behind = gone
    return ""


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


def stopped_by(rollout: Rollout, begun: Mapping[str, Begun], refused: str) -> str:
    """Why the rollout does not begin: somebody refuses, or a host that it cannot go on without does not take part."""
    known = {*rollout.behind, *rollout.left}
    missing = [name for name, host in begun.items() if not (host.answered or rollout.away(host) or name in known)]
    why = refused or (f"{first_of(missing, _NAMED)} cannot take part" if missing else "")
    rollout.behind = () if why else rollout.behind
    return why


def with_canary(rollout: Rollout, work: list[list[str]]) -> list[list[str]]:
    """The batches; another host goes first alone where the canary is left behind."""
    canary = canary_hosts(rollout.blueprint)
    if not work or not canary or not {*canary} <= {*rollout.behind}:
        return work
    return [batch for batch in (work[0][:1], work[0][1:], *work[1:]) if batch]


def fell_silent(
    rollout: Rollout, begun: Mapping[str, Begun], moves: Sequence[Move], batch: Sequence[HostOutcome]
) -> dict[str, HostOutcome]:
    """Hosts of a batch that cannot be reached any more and are left behind, where nothing was changed on any of it."""
    silent = {outcome.host: outcome for outcome in batch if outcome.reason.startswith(NOT_REACHED)}
    moving = {host for move in moves for host in (move.source, move.target)}
    if any(outcome.result != "old" for outcome in batch) or moving & silent.keys() or not silent:
        return {}
    leave_behind(rollout, begun, silent)
    if not {*silent} <= {*rollout.behind}:
        return {}
    note_behind(rollout)
    return {host: outcome._replace(result="behind") for host, outcome in silent.items()}


def note_behind(rollout: Rollout) -> None:
    """Record the hosts that are left behind."""
    if rollout.behind:
        rollout.journal.write("behind", hosts=list(rollout.behind))
