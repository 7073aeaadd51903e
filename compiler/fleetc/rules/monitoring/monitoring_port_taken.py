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

from fleetc.analysis.listeners import of_host, of_project
from fleetc.analysis.scraping import project_hosts
from fleetc.blueprint.listeners import MONITORING, Listening
from fleetc.language.effective_monitoring import grafana_listener, project_of, prometheus_listener
from fleetc.language.fleet import Fleet
from fleetc.language.monitoring import MonitoringProject
from fleetc.language.quantities import host_port, reach_of
from fleetc.places.diagnostic import Diagnostic, Label, error

_FIELDS = {
    "Prometheus": 'prometheus = "{address}"',
    "Prometheus agent": 'prometheus = "{address}"',
    "Grafana": 'grafana = "{address}"',
    "Alertmanager": "alertmanager_port = {port}",
    "node_exporter": "node_exporter_port = {port}",
    "blackbox exporter": "blackbox_port = {port}",
}
"""What to write for another port, by what listens there."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare what the project of each host listens on with everything else there, and with itself."""
    project = project_of(fleet)
    if project is None:
        return
    told: set[tuple[str, str]] = set()
    for host, _ in project_hosts(fleet):
        everything = [one for one in of_host(fleet, host) if one.protocol == "tcp"]
        own = [*of_project(fleet, host)]
        taken = [one for one in everything if one.owner != MONITORING or one.purpose not in _FIELDS]
        used = {one.port for one in everything}
        for one in own:
            for other in taken:
                if _meet(one, other) and (one.purpose, other.purpose) not in told:
                    told.add((one.purpose, other.purpose))  # once, and not for each of a hundred hosts
                    yield _clash(project, host, one, other, used)
            taken.append(one)


def _meet(one: Listening, other: Listening) -> bool:
    everywhere = any(reach_of(side.address) == "everywhere" for side in (one, other))
    return one.port == other.port and (everywhere or one.address == other.address)


def _clash(project: MonitoringProject, host: str, port: Listening, other: Listening, used: set[int]) -> Diagnostic:
    owner = "the project" if other.purpose in _FIELDS else host if other.owner == MONITORING else other.name
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
