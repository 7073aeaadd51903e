"""The order of a rollout without double runs, why it may not begin, and what stays stopped if a move fails.

In: a rollout, and what its hosts said. Out: moves, batches, or a reason; and results of hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleetc.blueprint.out import running_on
from fleetc.rollout.hosts.begun import Begun
from fleetc.rollout.hosts.gate import LET_GO, HostOutcome
from fleetc.rollout.hosts.rolling import END_PLAYBOOK, Rollout, Stated, place_of
from fleetc.rollout.moves import CircleError, Move, Nodes, arranged, handovers_of, moves_of


def order_of(
    rollout: Rollout, begun: Mapping[str, Begun], stated: Stated
) -> tuple[tuple[Move, ...], Sequence[tuple[str, ...]], str]:
    """The moves of this rollout, its batches, and why it cannot begin; "" where it can.

    Hosts that left the spec come last, except those that hand over exclusive duties.
    """
    begun = {host: answer for host, answer in begun.items() if host not in rollout.behind}
    runs = {host: answer.runs for host, answer in begun.items()}
    wants = {host: answer.wants for host, answer in begun.items()}
    moves, usual = moves_of(runs, wants), rollout.blueprint.batches
    handovers = handovers_of(runs, wants, moves)
    blocked = _twice(wants) or _replaced(rollout, begun, stated) or _blocked(rollout, begun, stated)
    blocked = blocked or _torn(rollout, begun, stated)
    if blocked:
        return moves, usual, blocked
    stays = [handover for handover in handovers if not begun[handover.source].needed]
    if stays:
        return moves, usual, f"{stays[0].source} {stays[0].what}, and nothing that is rolled out would end that"
    try:
        batches = arranged(usual, moves, handovers)
    except CircleError as problem:
        return moves, usual, str(problem)
    sources = {handover.source for handover in handovers}
    first = [(host,) for host in rollout.left if host in sources]
    last = [(host,) for host in rollout.left if host not in sources]
    return moves, (*first, *batches, *last), ""


def _twice(wants: Mapping[str, Nodes]) -> str:
    """What two hosts would do at once; "" where there is nothing. Kept releases of different rollouts can claim it."""
    home: dict[str, str] = {}
    for host, nodes in wants.items():
        for what in (*nodes, *(deed for does in nodes.values() for deed in does)):
            if what in home:
                return f"{home[what]} and {host} would both have what only one may have: {what}"
            home[what] = host
    return ""


def _replaced(rollout: Rollout, begun: Mapping[str, Begun], stated: Stated) -> str:
    """Which host is a new machine at a new address, while its nodes may still run on the old one; "" without one.

    A machine with a new address still knows its host name.
    """
    for host in rollout.blueprint.hosts:
        answer, given = begun.get(host.name), rollout.journal.history.hosts.get(host.name)
        if answer is None or given is None or not answer.answered or answer.known_as or not given.nodes:
            continue
        address = given.place.address
        if given.place[:2] != place_of(host)[:2] and address not in stated.dead:
            nodes = ", ".join(sorted(given.nodes))
            what = f"{host.name} is a new machine, and {nodes} may still run on the one before, at {address}"
            return f"{what}: stop them there, then state it with --assume-dead {address}"
    return ""


def _blocked(rollout: Rollout, begun: Mapping[str, Begun], stated: Stated) -> str:
    """Why a node that moves to a host may still run elsewhere; "" where it cannot.

    Hosts outside the limit report what they run; for silent ones the journal has their last state.
    """
    machines = {place_of(host)[:2] for host in rollout.blueprint.hosts if host.name in begun}
    silent = [
        (host, given.nodes)
        for host, given in rollout.journal.history.hosts.items()
        if not ((host in begun and begun[host].answered) or host in rollout.elsewhere)
        and host not in stated.dead
        and given.place[:2] not in machines
    ]
    for target, answer in begun.items():
        for node, does in answer.wants.items():
            for host, nodes in (*rollout.elsewhere.items(), *silent):
                if node not in answer.kept and node in nodes:
                    return _may_still_run(rollout, f"{node} was last on {host}", host)
                done = {what for others in nodes.values() for what in others}
                coming = [what for what in does if what in done and what not in answer.kept.get(node, ())]
                if coming and host != target:
                    return _may_still_run(rollout, f"{host} was the last that {coming[0]}", host)
    return ""


def _torn(rollout: Rollout, begun: Mapping[str, Begun], stated: Stated) -> str:
    """What would only stop here, because its new host is left out; "" if nothing is."""
    homes: dict[str, str] = {}
    for host in rollout.blueprint.hosts if rollout.goal.kind == "deploy" else ():
        for service in running_on(host).services:
            homes |= dict.fromkeys((service.name, *service.exclusive), host.name)
    for source, answer in begun.items():
        kept = {what for node, does in answer.wants.items() for what in (node, *does)}
        for what in (what for node, does in answer.runs.items() for what in (node, *does)):
            target = homes.get(what, source)
            if answer.answered and what not in kept and target not in begun and target not in stated.dead:
                return _left_out(rollout, f"{source} would stop what {target} goes on with ({what})", target)
    return ""


def _may_still_run(rollout: Rollout, what: str, host: str) -> str:
    if host in rollout.left:
        return f"{what}, which cannot be asked; if it is gone for good, state it with --assume-dead {host}"
    return _left_out(rollout, what, host)


def _left_out(rollout: Rollout, what: str, host: str) -> str:
    if host in rollout.behind:
        gone = f"if it is gone for good, state it with --assume-dead {host}"
        return f"{what}, and {host} cannot take part; rollout.may_miss leaves no host behind for a move; {gone}"
    if rollout.goal.shard:
        return f"{what}, and {rollout.goal.shard} has only one of them: deploy both with --limit, or without --shard"
    if rollout.goal.kind == "rollback":
        return f"{what}, which this rollback does not take back: revert the spec, compile it and deploy it instead"
    return f"{what}, which --limit leaves out: name both hosts, or leave --limit out"


def arrivals(moves: Sequence[Move]) -> dict[str, list[dict[str, Any]]]:
    """By host, the role's data about nodes that move there."""
    coming: dict[str, dict[str, list[str]]] = {}
    for move in moves:
        coming.setdefault(move.target, {}).setdefault(move.source, []).append(move.node)
    return {
        target: [{"host": source, "nodes": nodes} for source, nodes in sources.items()]
        for target, sources in coming.items()
    }


def stopped(coming: Sequence[Move], ends: Mapping[str, HostOutcome]) -> dict[str, HostOutcome]:
    """New hosts in an unknown state: their nodes may run there, so they are stopped on the old hosts.

    The old hosts are then unknown too.
    """
    changed: dict[str, HostOutcome] = {}
    for move in coming:
        outcome = changed.get(move.target, ends[move.target])
        if outcome.result in ("unknown", "quarantined"):
            reason = f"{outcome.reason}; {move.node} is stopped on {move.source}, because it may run here"
            changed[move.target] = outcome._replace(reason=reason)
            source = changed.get(move.source, ends[move.source])
            if source.result == "old":
                reason = f"{move.node} may be stopped here: unknown whether it moved to {move.target}"
                changed[move.source] = source._replace(result="unknown", reason=reason, until=outcome.until)
    return changed


def keep_away(
    rollout: Rollout, moves: Sequence[Move], hosts: Sequence[HostOutcome], until: Mapping[str, str]
) -> list[str]:
    """Have nodes stay away from old hosts where the new host does not say that it goes back: it may run them for long.

    Returns the old hosts that said so; the others start the nodes again by themselves.
    """
    ends, stays = {host.host: host for host in hosts}, dict[str, list[str]]()
    for move in moves:
        unsure = ends[move.target].result in ("unknown", "quarantined") and not until.get(move.target)
        if unsure and ends[move.source].result == "unknown":
            stays.setdefault(move.source, []).append(move.node)
    answers = rollout.run(END_PLAYBOOK, list(stays), fleet_host_stays=stays).answers if stays else {}
    return [host for host, own in answers.items() if own.get(LET_GO, {}).get("ok") is True]
