"""Prometheus raises alerts, but notifies nobody.

Why: such an alert only shows on a page that you have to open. Most failures of a node print no error and stop its
income; the alerts exist for those. If a monitoring project starts Alertmanager, `webhook` or `slack` of
`[monitoring.project]` says where they go.

Example:

    [monitoring]
    host = "watch"

Instead:

    [monitoring]
    host = "watch"
    alertmanagers = ["203.0.113.10:9093"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.scraping import prometheus_host
from fleetc.language.fleet import Fleet
from fleetc.language.monitoring import Monitoring
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at a fleet with a monitoring table; an empty table is like none."""
    settings = fleet.monitoring
    if settings is None or settings == Monitoring() or settings.alertmanagers:
        return
    project = settings.project
    if project is None:
        yield warning(
            "alerts-reach-nobody",
            "alerts of this fleet go to nobody: there is no Alertmanager",
            Label(("monitoring",), on_key=True),
            help='write alertmanagers = ["203.0.113.10:9093"] here, or silence this if you check by hand',
        )
    elif project.webhook is None and project.slack is None and prometheus_host(fleet) is not None:
        yield warning(
            "alerts-reach-nobody",
            "alerts of this fleet go to nobody: its Alertmanager has no webhook",
            Label(("monitoring", "project"), on_key=True),
            help='write webhook = { host_file = "/etc/fleetc-monitoring/webhook" } or slack here, or silence this if '
            "you check by hand",
        )
