"""Metrics that nobody reads, and agents that reach no Prometheus."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, silent

CODE = "metrics-out-of-reach"


FLEET = (free_gateway(monitor="true"), free_orchestrator(monitor="true"))


def test_two_hosts_and_no_word_of_prometheus(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(*FLEET), CODE, Severity.WARNING) == snapshot


def test_table_that_does_not_say_where_is_not_enough() -> None:
    assert "1 node:" in flagged(offchain(FLEET[0], free_orchestrator(), "[monitoring]\n"), CODE, Severity.WARNING)


@pytest.mark.parametrize("line", ['host = "edge"', 'receiver = "https://prometheus.example.net/api/v1/write"'])
def test_host_or_receiver_is_fine(line: str) -> None:
    silent(offchain(*FLEET, f'[monitoring]\nalertmanagers = ["203.0.113.10:9093"]\n{line}\n'))


def test_one_host_is_fine() -> None:
    one = offchain(
        free_gateway(monitor="true", http='"127.0.0.1:9935"'), free_orchestrator(host='"edge"', monitor="true")
    )
    silent(one[: one.index("[hosts.gpu]")] + one[one.index("[gateways.gate]") :])


def test_nodes_without_metrics_are_fine() -> None:
    silent(offchain(free_gateway(), free_orchestrator()))


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
