"""Bounds of the gas price that stop every transaction."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, offchain, onchain, orchestrator, printed, silent

CODE = "max-gas-price-too-low"


def test_below_the_lowest_of_the_node(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(min_gas_price='"2 gwei"', max_gas_price='"1 gwei"')), CODE) == snapshot
    silent(onchain(orchestrator(min_gas_price='"2 gwei"', max_gas_price='"2 gwei"')))


def test_below_the_gas_price_of_the_chain(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(max_gas_price='"0.049 gwei"')), CODE, Severity.WARNING) == snapshot
    silent(onchain(gateway(max_gas_price='"0.05 gwei"')))
    assert flagged(onchain(gateway(max_gas_price='"5 gwei"'), gas_price='"5.1 gwei"'), CODE, Severity.WARNING)


def test_lowest_gas_price_of_the_network_counts() -> None:
    text = onchain(orchestrator(max_gas_price='"0.5 gwei"'), network='"mainnet"')
    assert "never goes below 1 gwei here" in printed(text, CODE)


def test_off_chain_nothing_is_sent() -> None:
    text = offchain(orchestrator(wallet=None, price=None, max_gas_price='"1 wei"'))
    assert printed(text, CODE) == "no problems\n"
