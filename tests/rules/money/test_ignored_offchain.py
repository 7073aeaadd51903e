"""Wallets and prices in an off-chain fleet."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    model,
    offchain,
    onchain,
    silent,
    wallet,
)

CODE = "ignored-offchain"


def test_price_and_cap(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(price='"1 wei / pixel"'), free_gateway(max_price='"1 wei / pixel"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(offchain(free_orchestrator(), free_gateway()))
    # Price of a shared model is fine.
    silent(offchain(model(), free_orchestrator(), free_gateway()))
    # Wallet that no node names is fine.
    silent(offchain(wallet("w"), free_orchestrator(), free_gateway()))
    silent(onchain(gateway()))


def test_gas_price_without_a_chain() -> None:
    text = offchain(free_orchestrator(), free_gateway(), gas_price='"0.1 gwei"')
    assert "remove gas_price" in flagged(text, CODE, Severity.WARNING)


WALLET = (
    '[wallets.w]\naddress = "0x3333333333333333333333333333333333333333"\nkeystore = "/k"\npassword = { env = "P" }\n'
)


def test_wallet_of_a_node(snapshot: SnapshotAssertion) -> None:
    text = offchain(wallet("w"), free_orchestrator(), free_gateway(wallet='"w"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
