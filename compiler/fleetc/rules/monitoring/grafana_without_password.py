"""Grafana is open to other machines, and anybody may read it.

Why: without `grafana_password`, anybody who reaches Grafana sees the fleet's income, wallets and addresses. That is
fine on loopback, where only users of the host come: leave `grafana` out and use a tunnel, `ssh -L 3000:127.0.0.1:3000
HOST`.

Example:

    [monitoring.project]
    grafana = "0.0.0.0:3000"

Instead:

    [monitoring.project]
    grafana = "0.0.0.0:3000"
    grafana_password = { host_file = "/etc/fleetc-monitoring/grafana-password" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.effective_monitoring import PROJECT, project_of
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at where Grafana listens."""
    project = project_of(fleet)
    if (
        project is None
        or project.grafana is None
        or project.grafana.is_loopback
        or project.grafana_password is not None
    ):
        return
    yield error(
        "grafana-without-password",
        f"Grafana listens on {project.grafana}, and anybody who reaches it may read everything",
        Label((*PROJECT, "grafana")),
        help='write grafana_password = { host_file = "/etc/fleetc-monitoring/grafana-password" } too, or remove '
        "grafana and use a tunnel",
    )
