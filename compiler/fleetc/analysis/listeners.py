"""Who can reach which port of a host, and what can a stranger do there: every listener that the tree makes.

In: a sound `Fleet` and one of its nodes, runners, stacks or hosts. Out: `Listening` values. This is the only list:
lowering gives it to each host, and rules, policies and reviews ask here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fleetc.analysis.scraping import NOBODY, exporter_of, is_agent, reader_on
from fleetc.blueprint.listeners import (
    CALLERS,
    CHOSEN,
    CONTROL,
    EVERYONE,
    HOST,
    MONITORING,
    MOVE,
    PEERS,
    READ,
    SPEND,
    WORK,
    Listening,
)
from fleetc.language import effective, effective_avatar, effective_runners
from fleetc.language import effective_monitoring as monitoring
from fleetc.language.answers import once, once_for_all
from fleetc.language.fleet import Fleet, Node, PlacedRunner, Stack
from fleetc.language.gateway import Gateway
from fleetc.language.node import AiSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Listener, reach_of
from fleetc.language.signer import Redeemer, Signer
from fleetc.language.signing import has_signer, talks_to_chain
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, Origin, default, derived, given
from fleetc.text.ip_addresses import ip_address, is_private
from fleetc.upstream import PIPELINES

WEBHOOK = "a webhook"


def of_host(fleet: Fleet, host: str) -> tuple[Listening, ...]:
    """Every listener of a host, by port; its SSH server is one."""
    return _of_hosts(fleet)[host]


@once_for_all
def _of_hosts(fleet: Fleet) -> dict[str, tuple[Listening, ...]]:
    return {host: _of_host(fleet, host) for host in fleet.hosts}


def _of_host(fleet: Fleet, host: str) -> tuple[Listening, ...]:
    settings = fleet.hosts[host]
    ssh = ("hosts", host, "ssh_port") if "ssh_port" in settings.model_fields_set else ("hosts", host)
    found = [
        _one(
            settings.ssh_port,
            ("hosts", host),
            "SSH",
            CHOSEN,
            CONTROL,
            given(*ssh),
            guard="the keys of its users",
            tls=True,
        )
    ]
    for node in fleet.nodes_by_host.get(host, ()):
        found += of_node(fleet, node)
    for placed in fleet.runners_by_host.get(host, ()):
        found.append(of_runner(fleet, placed))
    for stack in fleet.stacks_by_host.get(host, ()):
        found += of_stack(fleet, stack)
    found += of_monitoring(fleet, host)
    return tuple(sorted(found, key=lambda one: one[:6]))


@once
def of_node(fleet: Fleet, node: Node) -> tuple[Listening, ...]:
    """Every listener of a node, also those that it opens unasked."""
    return tuple(_closed(fleet, node.settings.host, _of_node(fleet, node)))


def of_runner(fleet: Fleet, placed: PlacedRunner) -> Listening:
    """The port of a live runner. Which addresses it listens on is its program's choice, so it counts as all."""
    sellers = _sellers(fleet).get(placed.name, set())
    meant_for, peers = _peers(fleet, placed.host, sellers - {placed.host})
    purpose, origin = effective_runners.API, given(*placed.path, "port")
    found = _one(placed.port, placed.path, purpose, meant_for, WORK, origin, peers=peers)
    return next(iter(_closed(fleet, placed.host, (found,))))


@once_for_all
def _sellers(fleet: Fleet) -> dict[str, set[str]]:
    """The hosts of the orchestrators that offer each live runner."""
    hosts: dict[str, set[str]] = {}
    for offer in effective_runners.offers(fleet):
        hosts.setdefault(offer.name, set()).add(offer.orchestrator.settings.host)
    return hosts


@once
def of_stack(fleet: Fleet, stack: Stack) -> tuple[Listening, ...]:
    """Every listener of an avatar stack. Docker publishes them on all addresses, and the firewall closes them again.

    Nobody outside reaches the command port of a game: it has no protection. If a control plane manages the host and the
    spec names no edges, only it knows them, and its rotator guards the ports.
    """
    return tuple(_closed(fleet, stack.settings.host, _of_stack(fleet, stack)))


def of_monitoring(fleet: Fleet, host: str) -> Iterator[Listening]:
    """The programs of the monitoring project of a host, and exporters that people run there."""
    return _closed(fleet, host, (*of_project(fleet, host), *_exporters(fleet, host)))


# --- nodes ----------------------------------------------------------------------------------------


def _of_node(fleet: Fleet, node: Node) -> Iterator[Listening]:
    settings, chain = node.settings, talks_to_chain(fleet, node)
    yield _at(effective.cli_listener(node), node.path, "administration", CHOSEN, MOVE if chain else CONTROL)
    if isinstance(settings, Gateway):
        yield from _of_gateway(fleet, node, settings)
    elif isinstance(settings, Orchestrator):
        listener, guard = effective.orchestrator_http(fleet, node), "payment" if chain else ""
        yield _at(listener, node.path, "service", EVERYONE, WORK, guard=guard, tls=settings.http_tls)
    elif isinstance(settings, Signer):
        clients = {g.host for g in fleet.gateways.values() if g.remote_signer and g.remote_signer.signer == node.name}
        guard = WEBHOOK if settings.auth_webhook is not None else ""
        meant_for, peers = (CHOSEN, ()) if guard else _peers(fleet, settings.host, clients - {settings.host})
        listener = effective.helper_http(node, settings)
        yield _at(listener, node.path, "signing", meant_for, SPEND, guard=guard, peers=peers)
    elif isinstance(settings, Redeemer):
        clients = {o.host for o in fleet.orchestrators.values() if o.redeemer == node.name}
        meant_for, peers = _peers(fleet, settings.host, clients - {settings.host})
        listener = effective.helper_http(node, settings)
        yield _at(listener, node.path, "ticket redemption", meant_for, WORK, tls=True, peers=peers)
    if isinstance(settings, AiSettings) and effective.runs_models(fleet, node).value:
        yield from _containers(fleet, node, settings)


def _of_gateway(fleet: Fleet, node: Node, gateway: Gateway) -> Iterator[Listening]:
    """A webhook admits streams, and no other requests: nothing asks who sends those for AI work."""
    pays = SPEND if talks_to_chain(fleet, node) or (fleet.on_chain and has_signer(node)) else WORK
    streams, live = (WEBHOOK if hook is not None else "" for hook in (gateway.auth_webhook, gateway.live.auth_webhook))
    http = effective.gateway_http(node, gateway)
    asked = live if has_signer(node) else "" if effective.serves_ai(node) else streams
    takes = effective.ingests_over_http(node, gateway)
    yield _at(http, node.path, "HTTP", EVERYONE if asked else CHOSEN, pays if takes else READ, guard=asked)
    rtmp = effective.gateway_rtmp(node, gateway)
    yield _at(rtmp, node.path, "RTMP", EVERYONE if streams else CHOSEN, pays, guard=streams)
    for variable in effective.MEDIA_LISTENERS:
        listener = effective.media_listener(gateway.environment.get(variable, ""))
        if listener is not None:
            chosen = Chosen(listener, given(*node.path, "environment", variable))
            purpose, power = ("WHIP", pays) if "WHIP" in variable else ("WHEP", READ)
            yield _at(chosen, node.path, purpose, EVERYONE if live else CHOSEN, power, guard=live, protocol="udp")


def _containers(fleet: Fleet, node: Node, settings: AiSettings) -> Iterator[Listening]:
    """Runner containers listen at <pipeline's two digits><container on the GPU><GPU id>."""
    address = effective.LOOPBACK if effective.can(fleet, node, "runners-on-loopback") else effective.ANY_ADDRESS
    gpus = effective.gpu_ids(fleet, node)
    ids = gpus if isinstance(gpus, tuple) and gpus else (0,)
    seen: set[int] = set()
    for index, use in enumerate(settings.models):
        pipeline = PIPELINES.get(fleet.models[use.use].pipeline)
        if pipeline is None or not effective.managed(use):
            continue
        origin = derived("runner containers of this pipeline", (*node.path, "models", index, "use"))
        for gpu in ids:
            for container in range(settings.containers_per_gpu or 1):
                port = pipeline.port_prefix * 100 + container * 10 + gpu
                if gpu <= 9 and port not in seen:
                    seen.add(port)
                    purpose = f"{pipeline.name} runner"
                    yield _at(Chosen(Listener(address, port), origin), node.path, purpose, HOST, WORK)


# --- avatars --------------------------------------------------------------------------------------


def _of_stack(fleet: Fleet, stack: Stack) -> Iterator[Listening]:
    settings = stack.settings
    edge, turn, relay = settings.edge, settings.turn, effective_avatar.relay_ports(stack)
    steered = edge is not None and edge.url is not None and not edge.addresses
    callers = EVERYONE if steered else CALLERS
    viewers = EVERYONE if edge is not None and not edge.exclusive else callers
    guard = "the rotator" if steered else ""
    token = "a token" if settings.runner_token is not None else guard
    recordings = "a token" if settings.recordings_token is not None else guard
    kinds = {
        "signaling": (viewers, WORK, "the matchmaker"),
        "runner": (callers, CONTROL, token),
        "recorder": (callers, CONTROL, recordings),
        "game": (HOST, CONTROL, ""),
    }
    for slot in effective_avatar.slots_of(fleet, stack):
        for service, port in slot.ports.items():
            purpose = f"{service} of slot {slot.number}"
            origin = Origin("derived", (slot.path,), "its number")
            meant_for, power, asked = kinds[service]
            yield _one(port, stack.path, purpose, meant_for, power, origin, guard=asked)
    port, origin = effective_avatar.health_port(stack)
    yield _one(port, stack.path, "orchestrator-health", callers, CONTROL, origin, guard=guard)
    if turn is None or relay is None:
        return
    address = effective_avatar.turn_address(fleet, stack)
    behind = edge is not None and address is not None and address.value in map(str, edge.addresses)
    meant_for, password = viewers if behind else EVERYONE, "a name and a password"
    path = (*stack.path, "turn")
    origin = given(*path, "port") if "port" in turn.model_fields_set else default("the port of TURN", path)
    for protocol in ("tcp", "udp"):
        yield _one(turn.port, stack.path, "TURN", meant_for, WORK, origin, guard=password, protocol=protocol)
    first, last = relay.value.first, relay.value.last
    ranged = {"guard": password, "protocol": "udp", "last": last}
    yield _one(first, stack.path, "relayed media of TURN", meant_for, WORK, relay.origin, **ranged)


# --- monitoring -----------------------------------------------------------------------------------


def of_project(fleet: Fleet, host: str) -> Iterator[Listening]:
    """What the monitoring project of a host listens on; a host with an agent has neither Alertmanager nor Grafana."""
    project, agent = monitoring.project_of(fleet), is_agent(fleet, host)
    if project is None or agent is None:
        return
    meant_for, peers = _peers(fleet, host, () if agent else {*fleet.hosts} - {host})  # an agent on each other host
    listener = monitoring.prometheus_listener(project, agent=agent)
    yield _at(listener, MONITORING, "Prometheus agent" if agent else "Prometheus", meant_for, READ, peers=peers)
    if not agent:
        yield _at(monitoring.alertmanager_listener(project), MONITORING, "Alertmanager", HOST, CONTROL)
        password = "a password" if project.grafana_password is not None else ""
        yield _at(monitoring.grafana_listener(project), MONITORING, "Grafana", CHOSEN, READ, guard=password)
    blackbox = monitoring.blackbox_listener(fleet, host)
    if blackbox is not None:
        yield _at(blackbox, MONITORING, "blackbox exporter", HOST, READ)
    yield _at(monitoring.node_exporter_listener(project), MONITORING, "node_exporter", HOST, READ)


def _exporters(fleet: Fleet, host: str) -> Iterator[Listening]:
    """Programs that people run beside the nodes, which listen on all addresses by default."""
    found, port = exporter_of(fleet, host), fleet.hosts[host].blackbox_port
    exporters = [("exporter of GPU metrics", *found)] if found is not None else []
    if port is not None and is_agent(fleet, host) is None:
        exporters.append(("blackbox exporter", port, given("hosts", host, "blackbox_port")))
    for purpose, number, origin in exporters:
        meant_for = CHOSEN if reader_on(fleet, host) == NOBODY else HOST
        yield _one(number, MONITORING, purpose, meant_for, READ, origin)


# --- who ------------------------------------------------------------------------------------------


def _peers(fleet: Fleet, host: str, others: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Who other hosts of the fleet are to a firewall: PEERS with their addresses, HOST if there are none.

    A firewall compares addresses: where one is a name, or may be rewritten on the way, people choose.
    """
    found: list[str] = []
    own = ip_address(fleet.hosts[host].address)
    for name in sorted(others):
        known = [ip_address(text) for text in (fleet.hosts[name].address, fleet.hosts[name].public or "")]
        addresses = [address for address in known if address is not None]
        rewritten = own is None or (not is_private(own) and all(map(is_private, addresses)))
        if not addresses or rewritten:
            return CHOSEN, ()
        found += map(str, addresses)
    return (PEERS, tuple(dict.fromkeys(found))) if found else (HOST, ())


def _closed(fleet: Fleet, host: str, listening: Iterable[Listening]) -> Iterator[Listening]:
    """Whether the firewall closes each port: a host with an avatar stack has one, which knows whom a port is meant for.

    It does not know from where peers come to an address that is not the host's.
    """
    guarded, settings = host in fleet.stacks_by_host, fleet.hosts[host]
    for one in listening:
        usual = reach_of(one.address) == "everywhere" or one.address in (settings.address, settings.public)
        certain = one.meant_for in (HOST, CALLERS) or (one.meant_for == PEERS and usual)
        yield one._replace(closed=guarded and certain)


def _at(chosen: Chosen[Listener], owner: Path, purpose: str, meant_for: str, power: str, **more: Any) -> Listening:
    port = chosen.value.port
    found = Listening(port, port, "tcp", chosen.value.host, owner, purpose, meant_for, power, chosen.origin)
    return found._replace(**more)


def _one(port: int, owner: Path, purpose: str, meant_for: str, power: str, origin: Origin, **more: Any) -> Listening:
    """A port on all addresses."""
    return _at(Chosen(Listener(effective.ANY_ADDRESS, port), origin), owner, purpose, meant_for, power, **more)
