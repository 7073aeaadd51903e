"""Remote control and nobody who may use it, or everybody."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "remote-control-without-allowlist"

OPEN: dict[str, str | None] = {"allow": None, "payments": None}


def test_older_release_would_let_everybody_in_without_its_list(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(**OPEN)), CODE) == snapshot


def test_newer_release_lets_nobody_in() -> None:
    text = staged(avatars(**OPEN), avatar_release='"v2026.3.1-alpha.1"')
    assert "only the host itself can use it\n" in flagged(text, CODE)


def test_control_plane_lets_its_edges_in() -> None:
    edge = '{ url = "https://edge.example.net", token = { env = "EDGE_TOKEN" } }'
    text = staged(avatars(**OPEN, edge=edge), avatar_release='"v2026.3.1-alpha.1"')
    assert "only the host itself and the edges that its control plane names can use it\n" in flagged(text, CODE)


def test_rolling_tag() -> None:
    text = staged(avatars(**OPEN, remote_cluster_control="true"), avatar_release='"latest"')
    assert "perhaps anybody can" in flagged(text, CODE)


def test_release_without_cluster_control_by_default() -> None:
    assert "stage has remote ops on and" in flagged(staged(avatars(**OPEN), avatar_release='"v1.3.4"'), CODE)


def test_switched_off_is_fine() -> None:
    silent(staged(avatars(**OPEN, remote_ops="false", remote_cluster_control="false")))
