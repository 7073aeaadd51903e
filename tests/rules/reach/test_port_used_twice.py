"""Listeners that meet on one host: given, implied, on one address or on all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity, has_errors
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


def forwarded(spec: str) -> str:
    """The spec with another SSH port for its edge host."""
    changed = spec.replace("[hosts.edge]", "[hosts.edge]\nssh_port = 2222")
    assert changed != spec
    return changed


def test_port_22_of_a_node_is_an_error() -> None:
    node = free_gateway(http='"0.0.0.0:22"', http_ingest="true")
    assert "uses port 22 of host edge" in flagged(offchain(free_orchestrator(), node), CODE, Severity.ERROR)


def test_other_ssh_port_may_be_forwarded_so_it_is_a_warning(snapshot: SnapshotAssertion) -> None:
    node = free_gateway(http='"0.0.0.0:2222"', http_ingest="true")
    assert flagged(forwarded(offchain(free_orchestrator(), node)), CODE, Severity.WARNING) == snapshot
    silence = '[silences.accepted]\ncode = "port-used-twice"\nat = "gateways.gate"\nreason = "the router forwards it"\n'
    silent(forwarded(offchain(free_orchestrator(), node, silence)))


def test_ssh_port_hides_no_clash_of_two_nodes() -> None:
    one = free_gateway(http='"0.0.0.0:2222"', http_ingest="true")
    other = free_orchestrator(host='"edge"', service='"edge.example.net:2222"')
    found = [d for d in checked(forwarded(offchain(one, other))).diagnostics if d.code == CODE]
    assert sorted(d.severity.name for d in found) == ["ERROR", "WARNING", "WARNING"]


def test_bracketed_address_for_live_media_is_the_same_address() -> None:
    both = free_gateway(environment='{ LIVE_AI_WHIP_ADDR = "[::1]:7280", LIVE_AI_WHEP_ADDR = "[0:0::1]:7280" }')
    assert 'LIVE_AI_WHEP_ADDR = "[::1]:7281"' in flagged(offchain(free_orchestrator(), both), CODE)


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


_LISTENERS = st.tuples(
    st.sampled_from(["0.0.0.0", "127.0.0.1", "localhost", "10.0.0.1", "10.0.0.2"]), st.integers(9000, 9002)
)


@given(st.lists(_LISTENERS, min_size=1, max_size=6))
def test_one_pass_finds_what_comparing_all_pairs_finds(listeners: list[tuple[str, int]]) -> None:
    nodes = [
        gateway(
            f"g{index}",
            orchestrators='["x.example.net:8935"]',
            wallet=None,
            max_price=None,
            http=f'"{address}:{port}"',
            http_ingest="true",
            rtmp=f'"127.0.0.1:{1000 + index}"',
            cli=f'"127.0.0.1:{2000 + index}"',
        )
        for index, (address, port) in enumerate(listeners)
    ]
    clashing = set()
    for second, (address, port) in enumerate(listeners):
        for other, other_port in listeners[:second]:
            same = address.replace("localhost", "127.0.0.1") == other.replace("localhost", "127.0.0.1")
            if port == other_port and (same or "0.0.0.0" in (address, other)):
                clashing.add(f"g{second}")
    found = {str(d.primary.place[1]) for d in checked(offchain(*nodes)).diagnostics if d.code == CODE}  # type: ignore[index]
    assert found == clashing
