"""The reader of each metric: the fleet's Prometheus, an agent on the same host, or none.

In: a sound `Fleet`. Out: one `Reading` for each source of metrics (`readings`). Called by lowering and by the rule
about unreachable metrics, so the rule checks every emitted target.

A node serves metrics on its administration listener, which belongs on loopback: it moves funds without a password. So a
Prometheus reads what is on its own host. An agent on every other host reads there and sends the metrics to the
Prometheus. Only a listener that the spec opens is read from another host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.language import effective, effective_avatar
from fleetc.language.effective_avatar import SlotInForce
from fleetc.language.effective_monitoring import node_exporter_listener, project_of, prometheus_listener
from fleetc.language.effective_runners import health_url, offers
from fleetc.language.fleet import Fleet, Node
from fleetc.language.quantities import HostName, Listener, host_port
from fleetc.language.runner import Runner
from fleetc.places.origin import Chosen, Origin, default, derived, given
from fleetc.upstream.metrics import exporter_ports

PROMETHEUS_PORT = 9090
WRITE_PATH = "/api/v1/write"
CENTRAL, AGENT, NOBODY = "prometheus", "agent", "nobody"


class Probe(NamedTuple):
    """A target of a blackbox exporter: an address from its own host, and the owner.

    `slot` is None for orchestrator-health, which answers for the host, and for a live runner, which has its name.
    """

    url: str
    service: str
    slot: SlotInForce | None
    runner: str = ""


class Reading(NamedTuple):
    """How one source of metrics is read: `by` is one of CENTRAL, AGENT and NOBODY, `address` its target.

    `job` is livepeer for a node, gpu for a host's GPU exporter, node for its node_exporter, avatar or runner for a
    blackbox probe.
    """

    job: str
    host: str
    by: str
    address: Listener
    origin: Origin
    node: Node | None = None
    probe: Probe | None = None


def prometheus_host(fleet: Fleet) -> Chosen[str] | None:
    """The host that Prometheus runs on, or None if unknown."""
    settings = fleet.monitoring
    if settings is not None and settings.host is not None:
        return Chosen(settings.host, given("monitoring", "host"))
    if len(fleet.hosts) == 1 and (settings is None or settings.receiver is None):
        only = next(iter(fleet.hosts))
        return Chosen(only, default("the fleet has one host", ("hosts", only)))
    return None


def receiver(fleet: Fleet) -> Chosen[str] | None:
    """The address that agents write to, or None: then no agent is planned."""
    settings = fleet.monitoring
    if settings is not None and settings.receiver is not None:
        return Chosen(str(settings.receiver), given("monitoring", "receiver"))
    home = prometheus_host(fleet)
    if home is None:
        return None
    project = project_of(fleet)
    listener = prometheus_listener(project) if project is not None else None
    authority = host_port(
        HostName(fleet.hosts[home.value].address), listener.value.port if listener else PROMETHEUS_PORT
    )
    reason = (
        "the address of Prometheus' host, and its port"
        if listener
        else "the address of Prometheus' host, and its usual port"
    )
    paths = (*home.origin.paths, ("hosts", home.value, "address"), *(listener.origin.paths if listener else ()))
    return Chosen(f"http://{authority}{WRITE_PATH}", derived(reason, *paths))


def project_hosts(fleet: Fleet) -> Iterator[tuple[str, bool]]:
    """The hosts with a monitoring project, and whether theirs is an agent's."""
    for name in sorted(fleet.hosts):
        agent = is_agent(fleet, name)
        if agent is not None and fleet.hosts[name].out is None:
            yield name, agent


def is_agent(fleet: Fleet, host: str) -> bool | None:
    """Whether a host's monitoring project is an agent's; None if it has none, or nobody gets what it would read."""
    if project_of(fleet) is None:
        return None
    by = reader_on(fleet, host)
    return None if by == NOBODY else by == AGENT


def reader_on(fleet: Fleet, host: str) -> str:
    """Who reads what is served on the loopback of a host: CENTRAL, AGENT or NOBODY."""
    home = prometheus_host(fleet)
    if home is not None and home.value == host:
        return CENTRAL
    return AGENT if receiver(fleet) is not None else NOBODY


def exporter_of(fleet: Fleet, host: str) -> Chosen[int] | None:
    """The port of the exporter of GPU metrics that runs on a host, if one does."""
    exporter, path = fleet.hosts[host].gpu_exporter, ("hosts", host, "gpu_exporter")
    if exporter is None:
        return None
    if exporter.port is not None:
        return Chosen(exporter.port, given(*path, "port"))
    port = exporter_ports()[exporter.kind]
    return Chosen(port, default(f"{exporter.kind} listens on {port}", path))


def readings(fleet: Fleet) -> Iterator[Reading]:
    """How every node with monitor = true and every exporter of GPU metrics is read, by host and name.

    Nobody reads what is out of service, so no alert is about it.
    """
    project = project_of(fleet)
    for name in sorted(name for name, host in fleet.hosts.items() if host.out is None):
        local = reader_on(fleet, name)
        for node in fleet.nodes_by_host.get(name, ()):
            if node.settings.monitor and node.settings.out is None:
                yield _node(fleet, name, node, local)
        exporter = exporter_of(fleet, name)
        if exporter is not None:
            origin = given("hosts", name, "gpu_exporter")
            yield Reading("gpu", name, *_beside(fleet, name, exporter.value, local), origin)
        if project is not None and local != NOBODY:
            measured = node_exporter_listener(project)
            yield Reading("node", name, local, measured.value, measured.origin)
        yield from _probes(fleet, name, local)
        yield from _probes_of_runners(fleet, name, local)


def _node(fleet: Fleet, host: str, node: Node, local: str) -> Reading:
    listener, origin = effective.cli_listener(node)
    if local == NOBODY and not listener.is_loopback:
        local = CENTRAL
        if listener.is_any:
            listener = Listener(HostName(fleet.hosts[host].address), listener.port)
    elif listener.is_any:
        listener = Listener(effective.LOOPBACK, listener.port)
    return Reading("livepeer", host, local, listener, origin, node)


def _beside(fleet: Fleet, host: str, port: int, local: str) -> tuple[str, Listener]:
    """Who reads a program next to the nodes, and where. Such programs listen on all addresses by default."""
    if local == NOBODY:
        return CENTRAL, Listener(HostName(fleet.hosts[host].address), port)
    return local, Listener(effective.LOOPBACK, port)


def _probes(fleet: Fleet, host: str, local: str) -> Iterator[Reading]:
    """The signaling server of each slot that is awake, and orchestrator-health; both answer without credentials.

    An answer of a signaling server does not show that the matchmaker has the slot: how to ask that is not public. A
    server that does not answer cannot be registered. The report at /health is the stack's own JSON, not Prometheus
    text, so only whether it arrives is recorded.
    """
    port = fleet.hosts[host].blackbox_port
    if port is None:
        return
    reader = _beside(fleet, host, port, local)
    for stack in fleet.stacks_by_host.get(host, ()):
        for slot in (slot for slot in effective_avatar.slots_of(fleet, stack) if not slot.asleep):
            url = f"http://{host_port(effective.LOOPBACK, slot.ports['signaling'])}/healthz"
            yield Reading("avatar", host, *reader, slot.origin, probe=Probe(url, "signaling", slot))
        health = effective_avatar.health_port(stack)
        url = f"http://{host_port(effective.LOOPBACK, health.value)}/health"
        yield Reading("avatar", host, *reader, health.origin, probe=Probe(url, "orchestrator-health", None))


def _probes_of_runners(fleet: Fleet, host: str, local: str) -> Iterator[Reading]:
    """The health of live runners, asked from the host of an orchestrator that offers them, as it asks them itself."""
    port = fleet.hosts[host].blackbox_port
    seen = set()
    for offer in offers(fleet) if port is not None else ():
        if offer.orchestrator.settings.host == host and can_be_probed(offer.runner) and offer.name not in seen:
            seen.add(offer.name)
            url = health_url(fleet, offer)
            probe = Probe(url.value, "live-runner", None, offer.name)
            yield Reading("runner", host, *_beside(fleet, host, port or 0, local), url.origin, probe=probe)


def can_be_probed(runner: Runner) -> bool:
    """Whether the exporter can ask a runner: it takes every status from 200 to 299 for an answer, and no other."""
    return runner.health is not None and (runner.health_status is None or runner.health_status // 100 == 2)
