"""Releases that are too old."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "avatar-release-without-slots"


def _release(text: str) -> str:
    return staged(avatars(), avatar_release=f'"{text}"')


def test_release_before_slots(snapshot: SnapshotAssertion) -> None:
    assert flagged(_release("v1.2.4"), CODE) == snapshot


def test_release_without_images(snapshot: SnapshotAssertion) -> None:
    assert flagged(_release("v1.3.1-beta.1"), CODE, Severity.WARNING) == snapshot


def test_first_release_with_images_is_fine() -> None:
    silent(_release("v1.3.1-beta.2"))
