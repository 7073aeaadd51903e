"""The port that agents write to is somebody else's."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, printed, silent

CODE = "prometheus-port-taken"
MONITORING = '[monitoring]\nalertmanagers = ["203.0.113.10:9093"]\nhost = "edge"\n'
AGENT = free_orchestrator(monitor="true")


def test_node_at_that_port(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_gateway(cli='"127.0.0.1:9090"'), AGENT, MONITORING), CODE) == snapshot


def test_orchestrator_health_at_that_port() -> None:
    stack = '[avatars.stage]\nhost = "edge"\nslots = 1\n'
    text = offchain(free_gateway(), AGENT, MONITORING, stack, avatar_release='"v1.3.6"')
    assert "orchestrator-health" in flagged(text, CODE)
    assert CODE not in printed(text.replace("slots = 1", "slots = 1\nhealth_port = 9191"))


def test_receiver_at_another_port_is_fine() -> None:
    other = MONITORING + 'receiver = "http://203.0.113.10:9091/api/v1/write"\n'
    silent(offchain(free_gateway(cli='"127.0.0.1:9090"'), AGENT, other))


def test_without_agents_nobody_writes() -> None:
    silent(offchain(free_gateway(cli='"127.0.0.1:9090"', monitor="true"), free_orchestrator(), MONITORING))
