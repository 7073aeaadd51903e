"""Highest face values that leave no room for a ticket."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, onchain, orchestrator, silent

CODE = "max-face-value-too-low"


def _face(value: str, **settings: str) -> str:
    fleet = {key: settings.pop(key) for key in ("gas_price", "network") if key in settings}
    return onchain(orchestrator(max_face_value=f'"{value}"', **settings), **fleet)


def test_not_above_the_value_of_a_ticket(snapshot: SnapshotAssertion) -> None:
    assert flagged(_face("8 gwei"), CODE) == snapshot
    assert flagged(_face("100 gwei", ticket_ev='"100 gwei"'), CODE)


def test_not_above_the_cost_of_redeeming(snapshot: SnapshotAssertion) -> None:
    assert flagged(_face("60000 gwei"), CODE, Severity.WARNING) == snapshot
    assert "61000 gwei" in flagged(_face("60000 gwei"), CODE, Severity.WARNING)
    silent(_face("60000.000000001 gwei"))
    silent(_face("60000 gwei", gas_price='"0.049 gwei"'))


def test_what_gas_cannot_change_is_an_error() -> None:
    assert flagged(_face("1200 gwei"), CODE)  # redeeming at 0.001 gwei
    assert flagged(_face("1201 gwei"), CODE, Severity.WARNING)
    assert flagged(_face("1200000 gwei", min_gas_price='"1 gwei"'), CODE)


def test_zero_is_no_bound() -> None:
    silent(_face("0 wei"))
