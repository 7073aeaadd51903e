"""A program of the monitoring project listens on a port that is taken on its host.

Why: the second one fails to start, so the fleet is unwatched or a node is down. Prometheus and orchestrator-health of
an avatar stack both use port 9090 by default.

Example:

    [hosts.gpu]
    address = "203.0.113.20"

    [avatars.stage]
    host = "gpu"
    slots = 4

    [monitoring.project]
    webhook = { host_file = "/etc/fleetc-monitoring/webhook" }

Instead:

    [hosts.gpu]
    address = "203.0.113.20"

    [avatars.stage]
    host = "gpu"
    slots = 4

    [monitoring.project]
    prometheus = "127.0.0.1:9091"
    webhook = { host_file = "/etc/fleetc-monitoring/webhook" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.scraping import project_hosts
from fleetc.language import effective, effective_avatar
from fleetc.language.effective import ANY_ADDRESS, BoundPort
from fleetc.language.effective_monitoring import grafana_listener, project_of, project_ports, prometheus_listener
from fleetc.language.fleet import Fleet
from fleetc.language.monitoring import MonitoringProject
from fleetc.language.quantities import host_port
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.places.origin import given
from fleetc.upstream.metrics import exporter_ports

_FIELDS = {
    "Prometheus": 'prometheus = "{address}"',
    "Prometheus agent": 'prometheus = "{address}"',
    "Grafana": 'grafana = "{address}"',
    "Alertmanager": "alertmanager_port = {port}",
    "node_exporter": "node_exporter_port = {port}",
    "blackbox exporter": "blackbox_port = {port}",
}
"""What to write for another port, by what listens there."""
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  # compared, not bound


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare what the project of each host listens on with everything else there, and with itself."""
    project = project_of(fleet)
    if project is None:
        return
    told: set[tuple[str, str]] = set()
    for host, agent in project_hosts(fleet):
        own = [("the project", port) for port in project_ports(fleet, project, host, agent=agent)]
        taken = [found for found in _others(fleet, host) if found[1].protocol == "tcp"]
        used = {port.port for _, port in (*taken, *own)}
        for _, port in own:
            for owner, other in taken:
                if _meet(port, other) and (port.purpose, other.purpose) not in told:
                    told.add((port.purpose, other.purpose))  # once, and not for each of a hundred hosts
                    yield _clash(project, host, port, owner, other, used)
            taken.append(("the project", port))


def _meet(one: BoundPort, other: BoundPort) -> bool:
    everywhere = one.address in _EVERYWHERE or other.address in _EVERYWHERE
    return one.port == other.port and (everywhere or one.address == other.address)


def _others(fleet: Fleet, host: str) -> Iterator[tuple[str, BoundPort]]:
    """Other listeners on a host, with their owners."""
    settings = fleet.hosts[host]
    yield host, BoundPort(ANY_ADDRESS, settings.ssh_port, "tcp", "SSH", given("hosts", host))
    for node in fleet.nodes_by_host.get(host, ()):
        yield from ((node.name, port) for port in effective.bound_ports(fleet, node))
    for stack in fleet.stacks_by_host.get(host, ()):
        yield from ((stack.name, port) for port in effective_avatar.bound_ports(fleet, stack))
    exporter = settings.gpu_exporter
    if exporter is not None:
        number = exporter.port or exporter_ports()[exporter.kind]
        yield (
            host,
            BoundPort(ANY_ADDRESS, number, "tcp", "exporter of GPU metrics", given("hosts", host, "gpu_exporter")),
        )


def _clash(
    project: MonitoringProject, host: str, port: BoundPort, owner: str, other: BoundPort, used: set[int]
) -> Diagnostic:
    free = next(number for number in range(port.port + 1, port.port + len(used) + 2) if number not in used)
    listener = grafana_listener(project) if port.purpose == "Grafana" else prometheus_listener(project)
    text = _FIELDS[port.purpose].format(port=free, address=host_port(listener.value.host, free))
    where = f"hosts.{host}" if port.purpose == "blackbox exporter" else "monitoring.project"
    use = f"both use port {port.port} of host {host}"
    return error(
        "monitoring-port-taken",
        f"{port.purpose} of the monitoring project and {owner} ({other.purpose}) {use}",
        Label(port.origin.paths[0], port.purpose),
        [Label(other.origin.paths[0], f"{owner}: {other.purpose}")],
        f"write {text} in {where}",
    )
