"""Wallets that may run out of gas before anybody is told."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, offchain, onchain, orchestrator, printed, silent, wallet

CODE = "minimum-balance-low"
SELLER = orchestrator(wallet='"third"')


def test_no_minimum_balance(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(wallet(minimum_balance=None), SELLER), CODE, Severity.WARNING) == snapshot


def test_less_than_recommended(snapshot: SnapshotAssertion) -> None:
    low = wallet(minimum_balance='"0.019999999999999999 ETH"')
    assert flagged(onchain(low, SELLER), CODE, Severity.WARNING) == snapshot


def test_recommended_balance_is_fine() -> None:
    silent(onchain(wallet(minimum_balance='"0.02 ETH"'), SELLER))


def test_wallet_that_nobody_holds_and_offchain_wallets_need_none() -> None:
    silent(onchain(wallet(minimum_balance=None)))
    assert printed(offchain(wallet(minimum_balance=None), SELLER), CODE) == "no problems\n"
