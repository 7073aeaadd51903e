"""Gateways whose tickets nobody accepts because no reserve backs them."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, gateway, offchain, onchain, orchestrator, printed, silent, wallet

CODE = "gateway-reserve-missing"
PAYER = gateway(wallet='"third"')


def test_no_reserve(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(wallet(reserve=None), PAYER), CODE) == snapshot


def test_reserve_of_zero(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(wallet(reserve='"0 wei"'), PAYER), CODE) == snapshot


def test_reserve_is_fine() -> None:
    assert printed(onchain(wallet(reserve='"1 gwei"'), PAYER), CODE) == "no problems\n"


def test_orchestrators_and_offchain_gateways_need_none() -> None:
    silent(onchain(wallet(reserve=None), orchestrator(wallet='"third"')))
    assert printed(offchain(wallet(reserve=None), PAYER), CODE) == "no problems\n"
