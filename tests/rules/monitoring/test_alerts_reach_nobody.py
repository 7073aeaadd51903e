"""Alerts without an Alertmanager."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, offchain, printed, silent

CODE = "alerts-reach-nobody"


def test_nobody_is_told(snapshot: SnapshotAssertion) -> None:
    orch = free_orchestrator(monitor="true")
    assert flagged(offchain(orch, '[monitoring]\nhost = "gpu"\n'), CODE, Severity.WARNING) == snapshot
    silent(offchain(orch, '[monitoring]\nhost = "gpu"\nalertmanagers = ["203.0.113.10:9093"]\n'))


def test_who_only_serves_metrics_asked_for_no_alerts() -> None:
    for table in ("", "[monitoring]\n"):
        assert printed(offchain(free_orchestrator(monitor="true"), table), CODE) == "no problems\n"


def test_alertmanager_of_the_project_needs_a_webhook() -> None:
    project = '[monitoring]\nhost = "gpu"\n\n[monitoring.project]\nprometheus = "203.0.113.20:9090"\n'
    orch = free_orchestrator(monitor="true")
    assert "its Alertmanager has no webhook" in flagged(offchain(orch, project), CODE, Severity.WARNING)
    for kind in ("webhook", "slack"):
        silent(offchain(orch, f'{project}{kind} = {{ host_file = "/etc/fleetc-monitoring/{kind}" }}\n'))
