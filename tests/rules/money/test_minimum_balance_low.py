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


def test_sound_specs_are_silent() -> None:
    silent(onchain(wallet(minimum_balance='"0.02 ETH"'), SELLER))
    # Wallet that nobody holds and offchain wallets need none.
    silent(onchain(wallet(minimum_balance=None)))
    assert printed(offchain(wallet(minimum_balance=None), SELLER), CODE) == "no problems\n"
