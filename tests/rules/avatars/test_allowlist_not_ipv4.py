"""IPv6 where a control plane reads the allowlist."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "allowlist-not-ipv4"

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
