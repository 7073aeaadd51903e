"""The monitoring project has programs for a host that the spec does not name.

Why: Prometheus, Alertmanager and Grafana run on `host` of `[monitoring]`. A fleet of several hosts has to name it. If
Prometheus runs outside the fleet, its `receiver` is enough: the project then only has an agent for each host.

Example:

    [hosts.edge]
    address = "203.0.113.10"

    [hosts.gpu]
    address = "203.0.113.20"

    [monitoring.project]
    webhook = { host_file = "/etc/fleetc-monitoring/webhook" }

Instead:

    [hosts.edge]
    address = "203.0.113.10"

    [hosts.gpu]
    address = "203.0.113.20"

    [monitoring]
    host = "edge"

    [monitoring.project]
    prometheus = "203.0.113.10:9090"
    webhook = { host_file = "/etc/fleetc-monitoring/webhook" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.scraping import prometheus_host, receiver
from fleetc.language.effective_monitoring import PROJECT, project_of
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.text.suggestions import one_of

CENTRAL = ("grafana", "grafana_password", "alertmanager_port", "webhook", "slack", "heartbeat")
"""The fields that only concern the host of Prometheus."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at a project in a fleet whose Prometheus is on no known host."""
    project = project_of(fleet)
    if project is None or prometheus_host(fleet) is not None:
        return
    known = one_of(sorted(fleet.hosts))
    if receiver(fleet) is None:
        yield error(
            "monitoring-project-without-host",
            "no field names the host that runs the Prometheus of the monitoring project",
            Label(PROJECT, on_key=True),
            help=f"write host = {known} in monitoring",
        )
    for field in CENTRAL:
        if receiver(fleet) is not None and field in project.model_fields_set:
            yield error(
                "monitoring-project-without-host",
                f"{field} is for the host of Prometheus, and the spec names none",
                Label((*PROJECT, field)),
                [Label(("monitoring", "receiver"), "Prometheus runs elsewhere")],
                f"remove {field}, or write host = {known} in monitoring",
            )
