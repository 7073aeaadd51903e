"""Listeners that meet on one host: given, implied, on one address or on all."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from compiler.diagnostics import has_errors
from tests.rules.support import (
    checked,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    model,
    offchain,
    onchain,
    orchestrator,
    silent,
    transcoder,
    wallet,
)

CODE = "port-used-twice"


def test_gateway_and_orchestrator_on_one_port(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_gateway(http='"0.0.0.0:8935"', http_ingest="true"), free_orchestrator(host='"edge"'))
    assert flagged(text, CODE) == snapshot


def test_gateway_on_another_port_is_fine() -> None:
    silent(offchain(free_gateway(http='"0.0.0.0:9935"', http_ingest="true"), free_orchestrator(host='"edge"')))


def test_suggested_port_repairs_the_spec() -> None:
    text = offchain(free_gateway(http='"127.0.0.1:8935"', orchestrators='["edge.example.net:8935"]'))
    silent(text)
    both = offchain(free_gateway(http='"127.0.0.1:8935"'), free_orchestrator(host='"edge"'))
    assert 'write service = "edge.example.net:8936"' in flagged(both, CODE)
    repaired = free_orchestrator(host='"edge"', service='"edge.example.net:8936"')
    silent(offchain(free_gateway(http='"127.0.0.1:8935"'), repaired))


def test_default_administration_ports_of_two_gateways_meet(snapshot: SnapshotAssertion) -> None:
    second = free_gateway("gate-2", http='"127.0.0.1:9936"', rtmp='"127.0.0.1:1936"')
    assert flagged(offchain(free_orchestrator(), free_gateway(), second), CODE) == snapshot
    silent(offchain(free_orchestrator(), free_gateway(), second + 'cli = "127.0.0.1:5936"\n'))


def test_one_node_that_takes_a_port_twice(snapshot: SnapshotAssertion) -> None:
    node = free_gateway(http='"127.0.0.1:5935"')
    assert flagged(offchain(free_orchestrator(), node), CODE) == snapshot


def test_loopback_addresses_that_differ_do_not_meet() -> None:
    second = free_gateway("gate-2", http='"127.0.0.2:8935"', rtmp='"127.0.0.2:1935"', cli='"127.0.0.2:5935"')
    silent(offchain(free_orchestrator(), free_gateway(), second))


def test_localhost_is_the_loopback_address() -> None:
    second = free_gateway("gate-2", http='"localhost:8935"', rtmp='"127.0.0.1:1936"', cli='"127.0.0.1:5936"')
    assert "8935" in flagged(offchain(free_orchestrator(), free_gateway(), second), CODE)


def test_ipv6_wildcard_meets_everything() -> None:
    second = free_gateway("gate-2", http='"[::]:8935"', http_ingest="true", rtmp='"[::1]:1936"', cli='"[::1]:5936"')
    found = flagged(offchain(free_orchestrator(), free_gateway(), second), CODE)
    assert 'http = "[::]:8936"' in found


def test_ssh_port_of_the_host_is_taken(snapshot: SnapshotAssertion) -> None:
    node = free_gateway(http='"0.0.0.0:22"', http_ingest="true")
    assert flagged(offchain(free_orchestrator(), node), CODE) == snapshot


def test_whip_listener_is_udp_and_meets_only_udp() -> None:
    one = free_gateway(environment='{ LIVE_AI_WHIP_ADDR = "0.0.0.0:8935" }')
    silent(offchain(free_orchestrator(), one))
    both = free_gateway(environment='{ LIVE_AI_WHIP_ADDR = ":7280", LIVE_AI_WHEP_ADDR = ":7280" }')
    assert "WHEP" in flagged(offchain(free_orchestrator(), both), CODE)


def test_runner_containers_on_the_cpu_of_one_host_meet() -> None:
    settings = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "ai_registry": "true", "wallet": '"earner"'}
    secret = '{ env = "S" }'
    one = orchestrator("a", **settings, secret=secret, service='"orch.example.net:8001"')
    other = orchestrator("b", **settings, secret=secret, service='"orch.example.net:8002"', cli='"127.0.0.1:7936"')
    text = onchain(wallet(), model(), one, other.replace('"earner"', '"third"'))
    assert "text-to-image runner" in flagged(text, CODE)


def test_same_port_on_two_hosts_is_fine() -> None:
    silent(
        offchain(
            free_orchestrator(),
            free_gateway(),
            transcoder(host='"edge"', orchestrator='"o.example.net:8935"', secret='{ env = "S" }'),
        )
    )


def test_many_nodes_on_one_port_are_found_in_one_pass() -> None:
    nodes = [gateway(f"g{i}", orchestrators='["x.example.net:8935"]', wallet=None, max_price=None) for i in range(300)]
    found = checked(offchain(*nodes)).diagnostics
    assert has_errors(found)
    assert sum(d.code == CODE for d in found) == 3 * 299
