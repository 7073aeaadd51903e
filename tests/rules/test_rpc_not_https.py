"""RPC addresses over open connections."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, gateway, offchain, onchain, silent

CODE = "rpc-not-https"


def test_http(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(), rpc='"http://rpc.example.org"'), CODE) == snapshot


@pytest.mark.parametrize("scheme", ["ws", "wss"])
def test_web_sockets(scheme: str) -> None:
    assert f"{scheme}://" in flagged(onchain(gateway(), rpc=f'"{scheme}://rpc.example.org"'), CODE)


def test_https_is_fine() -> None:
    silent(onchain(gateway(), rpc='"https://arb1.example.org/rpc"'))


def test_reference_is_fine() -> None:
    silent(onchain(gateway(), rpc='{ vault = "rpc" }'))


def test_offchain_nobody_calls_it() -> None:
    silent(offchain(rpc='"http://rpc.example.org"'))
