"""Grafana that anybody may read."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, silent

CODE = "grafana-without-password"
PROJECT = """
[monitoring]
host = "edge"

[monitoring.project]
prometheus = "203.0.113.10:9090"
webhook = { host_file = "/etc/fleetc-monitoring/webhook" }
"""


def spec(project: str) -> str:
    return offchain(free_gateway(), free_orchestrator(), PROJECT + project)


def test_open_to_others(snapshot: SnapshotAssertion) -> None:
    assert flagged(spec('grafana = "203.0.113.10:3000"\n'), CODE) == snapshot


def test_loopback_and_a_password_are_fine() -> None:
    silent(spec('grafana = "[::1]:3000"\n'))
    password = 'grafana_password = { host_file = "/etc/fleetc-monitoring/grafana-password" }\n'
    silent(spec('grafana = "203.0.113.10:3000"\n' + password))
