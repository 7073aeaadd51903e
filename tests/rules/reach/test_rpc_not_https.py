"""RPC addresses over open connections."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, host, offchain, onchain, silent

CODE = "rpc-not-https"


def test_http(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(), rpc='"http://rpc.example.org"'), CODE) == snapshot


@pytest.mark.parametrize("address", ["ws://rpc.example.org", "http://198.18.0.5:8545", "ws://[2001:db8::1]:8546"])
def test_open_connection_to_another_machine(address: str) -> None:
    assert "write the https:// address" in flagged(onchain(gateway(), rpc=f'"{address}"'), CODE)


@pytest.mark.parametrize("address", ["http://10.0.0.5:8547", "http://192.168.1.9", "ws://[fc00::1]:8546"])
def test_own_node_in_a_private_network_is_warned_of(address: str) -> None:
    said = flagged(onchain(gateway(), rpc=f'"{address}"'), CODE, Severity.WARNING)
    assert "all in that network can read and change it" in said


def test_encrypted_connection_is_fine() -> None:
    silent(onchain(gateway(), rpc='"https://arb1.example.org/rpc"'))


def test_a_websocket_is_not_the_documented_way(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(), rpc='"wss://arb1.example.org/rpc"'), CODE, Severity.WARNING) == snapshot
    near = flagged(onchain(gateway(), rpc='"ws://localhost:8546"'), CODE, Severity.WARNING)
    assert "write the http:// address" in near


@pytest.mark.parametrize("address", ["http://127.0.0.1:8545", "http://[::1]", "http://127.8.0.1"])
def test_own_node_on_the_same_machine_is_fine(address: str) -> None:
    silent(onchain(gateway(), rpc=f'"{address}"'))


def test_address_of_a_host_is_looked_at_too() -> None:
    far = host("far", rpc='"http://rpc.example.org"')
    assert "write the https:// address" in flagged(onchain(far, gateway(host='"far"')), CODE)


def test_reference_is_fine() -> None:
    silent(onchain(gateway(), rpc='{ vault = "rpc" }'))


def test_offchain_nobody_calls_it() -> None:
    silent(offchain(rpc='"http://rpc.example.org"'))
