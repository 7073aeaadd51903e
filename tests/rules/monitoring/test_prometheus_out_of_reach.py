"""Agents that cannot reach the Prometheus of the project."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, silent

CODE = "prometheus-out-of-reach"
HOOK = 'webhook = { host_file = "/etc/fleetc-monitoring/webhook" }\n'


def spec(project: str = "", monitoring: str = "") -> str:
    tables = f'[monitoring]\nhost = "edge"\n{monitoring}\n[monitoring.project]\n{project}{HOOK}'
    return offchain(free_gateway(), free_orchestrator(), tables)


def test_loopback(snapshot: SnapshotAssertion) -> None:
    assert flagged(spec(), CODE) == snapshot


def test_loopback_that_is_written() -> None:
    said = flagged(spec('prometheus = "127.0.0.1:9191"\n'), CODE)
    assert 'write prometheus = "203.0.113.10:9191" in monitoring.project' in said


def test_open_listener_and_a_receiver_in_front_are_fine() -> None:
    silent(spec('prometheus = "0.0.0.0:9090"\n'))
    silent(spec(monitoring='receiver = "https://watch.example.net/api/v1/write"\n'))


def test_fleet_of_one_host_has_no_agents() -> None:
    one = offchain(
        free_gateway(), free_orchestrator(host='"edge"', http='"0.0.0.0:8936"'), f"[monitoring.project]\n{HOOK}"
    )
    second = one.index("[hosts.gpu]")
    silent(one[:second] + one[one.index("[gateways.gate]") :])
