"""Wallets in fleets that pay nobody."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, gateway, offchain, onchain, silent, wallet

CODE = "wallet-ignored-offchain"
WALLET = (
    '[wallets.w]\naddress = "0x3333333333333333333333333333333333333333"\nkeystore = "/k"\npassword = { env = "P" }\n'
)


def test_wallet_of_a_node(snapshot: SnapshotAssertion) -> None:
    text = offchain(wallet("w"), free_orchestrator(), free_gateway(wallet='"w"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_wallet_that_no_node_names_is_fine() -> None:
    silent(offchain(wallet("w"), free_orchestrator(), free_gateway()))


def test_wallet_on_a_chain_is_fine() -> None:
    silent(onchain(gateway()))
