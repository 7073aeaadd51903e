"""Control planes that are asked under no id."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "control-plane-without-id"

EDGE = '{ url = "https://edge.example.net", token = { env = "EDGE_TOKEN" } }'
REGISTRATION = '{ id = "stage-1", address = "0x1111111111111111111111111111111111111111" }'


def test_control_plane_without_registration(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(edge=EDGE)), CODE) == snapshot


def test_registration_has_the_id() -> None:
    silent(staged(avatars(edge=EDGE, registration=REGISTRATION)))


def test_edge_without_control_plane_needs_no_id() -> None:
    silent(staged(avatars(edge='{ addresses = ["203.0.113.5"] }')))
