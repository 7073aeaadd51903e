"""Deposits that do not cover one ticket."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, orchestrator, silent

CODE = "deposit-below-face-value"
LISTED = gateway(orchestrators='["orch"]')


def _with(deposit: str, *tables: str, **fleet: str) -> str:
    return onchain(*(tables or (LISTED, orchestrator())), **fleet).replace(
        'deposit = "0.5 ETH"', f'deposit = "{deposit}"'
    )


def test_below_the_face_value_at_the_assumed_gas_price(snapshot: SnapshotAssertion) -> None:
    assert flagged(_with("0.002 ETH"), CODE, Severity.WARNING) == snapshot


def test_a_deposit_of_one_face_value_is_enough_and_a_wei_less_is_not() -> None:
    silent(_with("0.003 ETH"))  # the share of a reserve of 0.3 ETH
    assert '"0.003 ETH"' in flagged(_with("0.002999999999999999 ETH"), CODE, Severity.WARNING)


def test_multiplier_face_value_and_gas_price_count() -> None:
    twice = gateway(orchestrators='["orch"]', tickets="{ deposit_multiplier = 2 }")
    assert '"0.006 ETH"' in flagged(_with("0.005 ETH", twice, orchestrator()), CODE, Severity.WARNING)
    silent(_with("0.006 ETH", twice, orchestrator()))
    silent(_with("0.002 ETH", LISTED, orchestrator(max_face_value='"0.002 ETH"')))
    silent(_with("0.002 ETH", gas_price='"0.015 gwei"'))


def test_deposit_of_one_ticket_value_is_never_enough() -> None:
    assert flagged(_with("8 gwei"), CODE)
    assert flagged(_with("8 gwei", gateway(), orchestrator()), CODE, Severity.WARNING)
    assert flagged(_with("9 gwei"), CODE, Severity.WARNING)
