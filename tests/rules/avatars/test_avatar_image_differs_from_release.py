"""Images of another release than the stack."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "avatar-image-differs-from-release"


def test_rolling_images(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(image_tag='"latest"')), CODE, Severity.WARNING) == snapshot


def test_images_of_another_release() -> None:
    assert "v1.3.5" in flagged(staged(avatars(image_tag='"v1.3.5"')), CODE, Severity.WARNING)


def test_the_same_tag_is_fine() -> None:
    silent(staged(avatars(image_tag='"v1.3.6"')))
