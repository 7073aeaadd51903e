"""A monitoring project for a host that is not named."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, silent

CODE = "monitoring-project-without-host"
HOOK = 'webhook = { host_file = "/etc/fleetc-monitoring/webhook" }\n'
NODES = (free_gateway(), free_orchestrator())


def test_two_hosts_and_none_is_named(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(*NODES, f"[monitoring.project]\n{HOOK}"), CODE) == snapshot


def test_prometheus_elsewhere_needs_agents_alone() -> None:
    elsewhere = (
        '[monitoring]\nreceiver = "https://watch.example.net/api/v1/write"\nalertmanagers = ["203.0.113.5:9093"]\n'
    )
    said = flagged(offchain(*NODES, f"{elsewhere}\n[monitoring.project]\n{HOOK}"), CODE)
    assert "webhook is for the host of Prometheus" in said
    silent(offchain(*NODES, f"{elsewhere}\n[monitoring.project]\nnode_exporter_port = 9101\n"))
