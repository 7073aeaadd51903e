"""Prometheus raises alerts, but there is no Alertmanager to send them to.

Why: an alert that goes to nobody only shows on a page that somebody has to open. Most failures of a node print no error
and stop its income; the alerts exist to tell you.

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

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at a fleet with a monitoring table."""
    if fleet.monitoring is not None and not fleet.monitoring.alertmanagers:
        yield warning(
            "alerts-reach-nobody",
            "alerts of this fleet go to nobody: there is no Alertmanager",
            Label(("monitoring",), on_key=True),
            help='write alertmanagers = ["203.0.113.10:9093"] here, or silence this if you check by hand',
        )
