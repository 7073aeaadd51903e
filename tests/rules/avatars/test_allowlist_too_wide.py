"""Allowlists that hold more than anybody would name."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "allowlist-too-wide"


def _allow(network: str) -> str:
    return staged(avatars(allow=f'["payments", "{network}"]'))


def test_everybody(snapshot: SnapshotAssertion) -> None:
    assert flagged(_allow("0.0.0.0/0"), CODE) == snapshot
    assert "everybody" in flagged(_allow("::/0"), CODE)


def test_whole_provider(snapshot: SnapshotAssertion) -> None:
    assert flagged(_allow("203.0.0.0/12".replace("203.0", "203.0")), CODE, Severity.WARNING) == snapshot


def test_network_that_runners_cannot_compare(snapshot: SnapshotAssertion) -> None:
    assert flagged(_allow("198.51.96.0/20"), CODE, Severity.WARNING) == snapshot


def test_narrow_network_is_fine() -> None:
    silent(_allow("198.51.100.0/24"))
