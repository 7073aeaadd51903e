"""Allowlists that are too wide, or that a control plane cannot read."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "allowlist-unfit"


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


EDGE = '{ url = "https://edge.example.net", token = { env = "EDGE_TOKEN" } }'


def test_ipv6_with_a_control_plane(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(allow='["payments", "2001:db8::7"]', edge=EDGE)), CODE) == snapshot


def test_ipv6_address_of_the_payments_service() -> None:
    text = staged(avatars(payments='{ addresses = ["2001:db8::9"] }', edge=EDGE))
    assert "2001:db8::9/128 is not IPv4" in flagged(text, CODE)


def test_ipv6_without_a_control_plane_is_fine() -> None:
    silent(staged(avatars(allow='["payments", "2001:db8::7"]')))
    account = '{ id = "stage-1", address = "0x1111111111111111111111111111111111111111" }'
    silent(staged(avatars(edge=EDGE, registration=account)))
