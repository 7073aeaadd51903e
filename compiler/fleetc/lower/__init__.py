"""Lowering: from the typed fleet to the blueprint. It decides all defaults and names.

In: a `Fleet` without errors. Out: a `Blueprint`: every argument, variable and file has an origin.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

from fleetc.analysis import listeners
from fleetc.blueprint.blueprint import (
    Blueprint,
    Connection,
    HostBlueprint,
    Kept,
    SecretVariable,
    Service,
    Silenced,
)
from fleetc.blueprint.rollout import RolloutTimes
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.host import Rollout
from fleetc.language.node import ChainSettings
from fleetc.language.signing import account_of, has_signer, payer
from fleetc.lower.avatar import lower_avatar
from fleetc.lower.gateway import lower_gateway
from fleetc.lower.health import health
from fleetc.lower.helpers import lower_redeemer, lower_reward_caller, lower_signer
from fleetc.lower.live import live_values
from fleetc.lower.mapping import SECRET_PATH_VARIABLES
from fleetc.lower.market import lower_market
from fleetc.lower.monitoring import lower_monitoring
from fleetc.lower.needs import needs_of
from fleetc.lower.noting import Likeness, Note, Noting
from fleetc.lower.orchestrator import lower_orchestrator
from fleetc.lower.order import batches_of, turn
from fleetc.lower.program import lower_program
from fleetc.lower.runner import lower_runner
from fleetc.lower.scope import reward_caller
from fleetc.lower.streams import lower_stream_api, lower_streams
from fleetc.lower.worker import lower_ai_worker, lower_transcoder
from fleetc.places.origin import Chosen, derived, given

SIGNER_ELSEWHERE = "signer elsewhere"
"""The end of an edge from a gateway to a signer outside the fleet; no node can have this name."""


_SERVICES: Mapping[str, Callable[[Fleet, Node, Any], Service]] = {
    "gateways": lower_gateway,
    "orchestrators": lower_orchestrator,
    "transcoders": lower_transcoder,
    "ai_workers": lower_ai_worker,
    "remote_signers": lower_signer,
    "redeemers": lower_redeemer,
    "reward_callers": lower_reward_caller,
}
"""What lowers the nodes of each table."""


def lower(fleet: Fleet, hosts: Collection[str] | None = None) -> Blueprint:
    """Lower the fleet, or only some of its hosts. Hosts without nodes are kept: a rollout stops what ran there."""
    return _blueprint(fleet, tuple(_host(fleet, name) for name in sorted(fleet.hosts if hosts is None else hosts)))


class Lowered(NamedTuple):
    """A lowered fleet, with what was read of it for each host."""

    fleet: Fleet
    blueprint: Blueprint
    notes: Mapping[str, frozenset[Note]]


def lower_like(fleet: Fleet, before: Lowered | None = None) -> Lowered:
    """Lower the fleet and note what is read. A host for which that is as `before` keeps that blueprint object."""
    noting = Noting(fleet)
    found = {} if before is None else _unchanged(fleet, before)
    for name in fleet.hosts:
        if name not in found:
            found[name] = _host(cast("Fleet", noting), name), noting.taken()
    hosts = sorted(found)
    blueprint = _blueprint(fleet, tuple(found[name][0] for name in hosts))
    return Lowered(fleet, blueprint, {name: found[name][1] for name in hosts})


def _unchanged(fleet: Fleet, before: Lowered) -> dict[str, tuple[HostBlueprint, frozenset[Note]]]:
    """The hosts of a fleet before that are the same in this one, with what was read for them."""
    alike = Likeness(before.fleet, fleet)
    return {
        host.name: (host, before.notes[host.name])
        for host in before.blueprint.hosts
        if host.name in fleet.hosts and alike.holds(before.notes[host.name])
    }


def _blueprint(fleet: Fleet, hosts: tuple[HostBlueprint, ...]) -> Blueprint:
    edges = tuple(sorted(_edges(fleet)))
    batches, pairs, needed = batches_of(fleet, edges)
    return Blueprint(
        fleet=fleet.fleet.name,
        network=fleet.fleet.network,
        release=fleet.fleet.node_release,
        hosts=hosts,
        edges=edges,
        canary=fleet.rollout.canary,
        batch=fleet.rollout.batch,
        silenced=tuple(
            Silenced(name, s.code, s.at or "", s.reason, str(s.until or ""), s.owner or "")
            for name, s in sorted(fleet.silences.items())
        ),
        market=lower_market(fleet),
        streams=lower_streams(fleet),
        stream_api=lower_stream_api(fleet),
        monitoring=lower_monitoring(fleet),
        batches=batches,
        pairs=pairs,
        needed=needed,
        may_miss=fleet.rollout.missable(len(fleet.hosts)),
        times=_times(fleet.rollout),
        live=fleet.rollout.live,
    )


def _times(rollout: Rollout) -> RolloutTimes:
    times = (rollout.stable, rollout.deadline, rollout.confirm, rollout.drain)
    stable, deadline, confirm, drain = (0 if value is None else value.microseconds // 1_000_000 for value in times)
    return RolloutTimes(stable, deadline, confirm, drain, rollout.keep)


def _host(fleet: Fleet, name: str) -> HostBlueprint:
    host = fleet.hosts[name]
    made = HostBlueprint(
        name=name,
        address=host.address,
        public=host.public or "",
        runtime=host.runtime,
        region=host.region or "",
        ssh_user=host.ssh_user,
        ssh_port=host.ssh_port,
        become=host.become,
        node_user=host.node_user,
        services=(
            *(
                replace(lower_runner(fleet, placed), out=effective.out_of(fleet, placed))
                for placed in fleet.runners_by_host.get(name, ())
            ),
            *(
                _checked(fleet, node, _SERVICES[node.table](fleet, node, node.settings))
                for node in sorted(fleet.nodes_by_host.get(name, ()), key=turn)
            ),
        ),
        avatar=next((lower_avatar(fleet, stack) for stack in fleet.stacks_by_host.get(name, ())), None),
        listeners=listeners.of_host(fleet, name),
        out=None if host.out is None else Chosen(host.out.words, given("hosts", name, "out")),
    )
    return replace(made, needs=needs_of(fleet, made))


def _checked(fleet: Fleet, node: Node, service: Service) -> Service:
    return replace(
        service,
        secrets=_with_files(fleet, node, service),
        health=health(fleet, node),
        exclusive=_exclusive(fleet, node),
        live=live_values(fleet, node, service),
        program=lower_program(fleet, node),
        kept=tuple(_kept(fleet, node)),
        out=effective.out_of(fleet, node),
    )


def _kept(fleet: Fleet, node: Node) -> Iterator[Kept]:
    """A gateway asks its signer for its account once, at its start."""
    account = account_of(fleet, node.name) if has_signer(node) else None
    signer = payer(fleet, node)
    if account is not None and signer is not None:
        origin = derived("the account of the signer's tickets", (*signer.path, "wallet"))
        yield Kept("the account of its signer", str(account), origin)


def _with_files(fleet: Fleet, node: Node, service: Service) -> tuple[SecretVariable, ...]:
    """The secrets of a service. Where systemd starts it and the node takes a path, none is in its environment."""
    if fleet.hosts[node.settings.host].runtime != "systemd":
        return service.secrets
    return tuple(secret._replace(as_file=secret.name in SECRET_PATH_VARIABLES) for secret in service.secrets)


def _exclusive(fleet: Fleet, node: Node) -> tuple[str, ...]:
    """What a node does that no two may do at once: a rollout stops the one before it starts the other."""
    settings = node.settings
    if not isinstance(settings, ChainSettings) or settings.wallet is None or reward_caller(fleet, node) is None:
        return ()
    return (f"calls reward for {fleet.wallets[settings.wallet].address}",)


def _edges(fleet: Fleet) -> Iterator[Connection]:
    for name, gateway in fleet.gateways.items():
        for target in gateway.orchestrators:
            yield Connection(name, target, "pays" if target in fleet.orchestrators else "outside")
        signer = None if gateway.remote_signer is None else gateway.remote_signer.signer or SIGNER_ELSEWHERE
        if isinstance(gateway.discovery, str):
            yield Connection(name, gateway.discovery, "finds")
        elif gateway.discovery is not None:
            yield Connection(name, "webhook", "finds")
        elif signer is not None and not gateway.orchestrators:
            yield Connection(name, signer, "finds")
        if signer is not None:
            yield Connection(name, signer, "signs")
    for name, orchestrator in fleet.orchestrators.items():
        if orchestrator.redeemer in fleet.redeemers:
            yield Connection(name, orchestrator.redeemer, "redeems")
        for runner in orchestrator.runners:
            if fleet.runners[runner].host is not None:
                yield Connection(name, runner, "offers")
    for workers in (fleet.transcoders, fleet.ai_workers):
        for name, worker in workers.items():
            yield Connection(
                worker.orchestrator,
                name,
                "serves" if worker.orchestrator in fleet.orchestrators else "outside",
            )
