"""Amounts that nobody has."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, silent, wallet

CODE = "amount-above-supply"


def _with(**amounts: str) -> str:
    return onchain(wallet(**{key: f'"{amount}"' for key, amount in amounts.items()}), gateway(wallet='"third"'))


def test_deposit_in_the_wrong_unit(snapshot: SnapshotAssertion) -> None:
    assert flagged(_with(deposit="50000000000 ETH"), CODE, Severity.WARNING) == snapshot
    silent(_with(deposit="50000000000 gwei"))  # as the help says


def test_each_amount_of_a_wallet() -> None:
    assert "minimum_balance" in flagged(_with(minimum_balance="120000001 ETH"), CODE, Severity.WARNING)
    assert 'reserve = "500000000000000000 wei"' in flagged(
        _with(reserve="500000000000000000 ETH"), CODE, Severity.WARNING
    )
    silent(_with(reserve="120000000 ETH"))
