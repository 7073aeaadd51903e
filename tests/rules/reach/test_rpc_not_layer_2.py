"""RPC addresses of the chain below."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, gateway, onchain, printed, silent

CODE = "rpc-not-layer-2"


def test_layer_1(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(), rpc='"https://eth-mainnet.provider.example/v2"'), CODE) == snapshot


@pytest.mark.parametrize(
    "url",
    [
        "https://arb-mainnet.provider.example/v2",
        "https://arb1.arbitrum.io/rpc",
        "https://rpc.example.org",
    ],
)
def test_layer_2_and_unknown_addresses_are_fine(url: str) -> None:
    silent(onchain(gateway(), rpc=f'"{url}"'))


def test_layer_1_network_takes_layer_1() -> None:
    text = onchain(gateway(), network='"mainnet"', rpc='"https://eth-mainnet.provider.example/v2"')
    assert printed(text, CODE) == "no problems\n"


def test_key_in_the_address_is_not_printed() -> None:
    key = "AAAAAAAAAAAAb1C2d3E4f5G6h7I8j9K0"
    assert key not in flagged(onchain(gateway(), rpc=f'"https://eth-mainnet.provider.example/v2/{key}"'), CODE)
