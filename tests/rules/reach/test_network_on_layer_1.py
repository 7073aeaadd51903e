"""Networks where nobody trades."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, orchestrator, silent

CODE = "network-on-layer-1"
POOR = {"max_price": '"1210 wei / pixel"', "orchestrators": '["orch"]'}


def test_mainnet_and_no_word_of_prices(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(**POOR), orchestrator(), network='"mainnet"'), CODE, Severity.WARNING) == snapshot


@pytest.mark.parametrize("network", ["arbitrum-one-mainnet", "arbitrum-one-rinkeby"])
def test_layer_2(network: str) -> None:
    silent(onchain(gateway(orchestrators='["orch"]'), orchestrator(), network=f'"{network}"'))


def test_a_test_chain_that_is_gone() -> None:
    assert flagged(onchain(gateway(), network='"rinkeby"'), CODE, Severity.WARNING)


def test_a_controller_of_its_own() -> None:
    silent(onchain(gateway(), network='"mainnet"', controller='"0x4444444444444444444444444444444444444444"'))
