"""What is in force for the monitoring project once defaults are applied: who listens where.

In: a sound `Fleet`. Out: values with their origins. Rules and lowering both ask here, so that what is checked is what
is emitted. The sibling of `effective.py`, which does the same for nodes.
"""

from __future__ import annotations

from fleetc.language.effective import LOOPBACK
from fleetc.language.fleet import Fleet
from fleetc.language.monitoring import MonitoringProject
from fleetc.language.quantities import Listener
from fleetc.places.origin import Chosen, default, given
from fleetc.upstream.monitoring_images import monitoring_images

PROJECT = ("monitoring", "project")
PROMETHEUS, ALERTMANAGER, GRAFANA = "prometheus", "alertmanager", "grafana"
BLACKBOX, NODE_EXPORTER = "blackbox-exporter", "node-exporter"


def project_of(fleet: Fleet) -> MonitoringProject | None:
    """The monitoring project, or None if the fleet has none."""
    return fleet.monitoring.project if fleet.monitoring is not None else None


def prometheus_listener(project: MonitoringProject, *, agent: bool = False) -> Chosen[Listener]:
    """Where Prometheus listens; an agent has the same port of its loopback."""
    found = _listener(PROMETHEUS, project.prometheus, "prometheus")
    return found._replace(value=Listener(LOOPBACK, found.value.port)) if agent else found


def grafana_listener(project: MonitoringProject) -> Chosen[Listener]:
    """Where Grafana listens."""
    return _listener(GRAFANA, project.grafana, "grafana")


def alertmanager_listener(project: MonitoringProject) -> Chosen[Listener]:
    """Where Alertmanager listens: always on loopback, because it has no password."""
    return _on_loopback(ALERTMANAGER, project.alertmanager_port, "alertmanager_port")


def node_exporter_listener(project: MonitoringProject) -> Chosen[Listener]:
    """Where node_exporter listens on each host, for the Prometheus or the agent beside it."""
    return _on_loopback(NODE_EXPORTER, project.node_exporter_port, "node_exporter_port")


def blackbox_listener(fleet: Fleet, host: str) -> Chosen[Listener] | None:
    """Where the blackbox exporter of a host listens, if it has one."""
    port = fleet.hosts[host].blackbox_port
    return None if port is None else Chosen(Listener(LOOPBACK, port), given("hosts", host, "blackbox_port"))


def _listener(program: str, written: Listener | None, field: str) -> Chosen[Listener]:
    if written is not None:
        return Chosen(written, given(*PROJECT, field))
    return Chosen(Listener(LOOPBACK, monitoring_images()[program].port), default(f"the default of {field}", PROJECT))


def _on_loopback(program: str, port: int | None, field: str) -> Chosen[Listener]:
    return _listener(program, None if port is None else Listener(LOOPBACK, port), field)
