"""Releases that fleetc does not know."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, free_gateway, free_orchestrator, offchain, silent, staged

CODE = "release-unknown"


def test_release_of_which_something_is_known(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_gateway(), free_orchestrator(), node_release='"v0.9.2"')
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_release_of_one_node_beside_that_of_the_fleet(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_gateway(node_release='"v1.2.3"'), free_orchestrator(), node_release='"v0.10.0"')
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def _release(text: str) -> str:
    return staged(avatars(remote_cluster_control="true"), avatar_release=f'"{text}"')


def test_rolling_tag(snapshot: SnapshotAssertion) -> None:
    assert flagged(_release("latest"), CODE, Severity.WARNING) == snapshot
    for tag in ("staging", "sha-", "sha-branch", "main"):
        assert "rolling tag" in flagged(_release(tag), CODE, Severity.WARNING)


def test_unsound_specs_are_flagged() -> None:
    # Tag of a commit.
    assert "sha-abc1234 is a tag of a commit" in flagged(_release("sha-abc1234"), CODE, Severity.WARNING)
    # Release between known ones.
    assert "it assumes that it works like v1.3.1" in flagged(_release("v1.3.2"), CODE, Severity.WARNING)
    assert "works like v1.3.6" in flagged(_release("v1.10.0"), CODE, Severity.WARNING)
    # Release older than all.
    assert "older than all" in flagged(_release("v0.9.0"), CODE, Severity.WARNING)
    # One place is reported once.
    text = staged(
        avatars(remote_cluster_control="true"),
        avatars("studio", host='"edge"', slots='[{ avatar = "ada" }]', remote_cluster_control="true"),
        avatar_release='"latest"',
    )
    assert flagged(text, CODE, Severity.WARNING).count("warning[") == 1


def test_newer_release(snapshot: SnapshotAssertion) -> None:
    assert flagged(_release("v2026.10.2-alpha.12"), CODE, Severity.WARNING) == snapshot


def test_date_before_the_first_release_of_that_form() -> None:
    early = flagged(_release("v2025.11.2-alpha.1"), CODE, Severity.WARNING)
    assert "the first release in date form is of March 2026, v2026.2.28-alpha.1" in early


def test_known_releases_are_fine() -> None:
    for release in ("v1.3.5", "v1.3.6", "v2026.2.28-alpha.1", "v2026.3.1-alpha.1"):
        silent(_release(release))
