"""Images of another release than the settings."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, free_gateway, free_orchestrator, offchain, silent, staged

CODE = "image-differs-from-release"


OLD = '"livepeer/go-livepeer:v0.8.10"'


def test_image_of_the_fleet(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(), free_gateway(), image=OLD)
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    # Same release in either spelling is fine.
    silent(offchain(free_orchestrator(), free_gateway(), image='"livepeer/go-livepeer:v0.9.1"'))
    silent(offchain(free_orchestrator(), free_gateway(), image='"livepeer/go-livepeer:0.9.1"'))
    # Systemd hosts use no image.
    silent(offchain(free_orchestrator(image=OLD), free_gateway()))
    silent(staged(avatars(image_tag='"v1.3.6"')))


def test_release_of_the_node_counts() -> None:
    silent(offchain(free_orchestrator(), free_gateway(image=OLD, node_release='"v0.8.10"')))
    text = offchain(free_orchestrator(), free_gateway(image=OLD, node_release='"v0.8.11"'))
    assert 'node_release = "v0.8.10"' in flagged(text, CODE, Severity.WARNING)


def test_unsound_specs_are_flagged() -> None:
    # Tag that names no release.
    text = offchain(free_orchestrator(), free_gateway(image='"livepeer/go-livepeer:sha-0123abc"'))
    assert "remove the tag\n" in flagged(text, CODE, Severity.WARNING)
    # Images of another release.
    assert "v1.3.5" in flagged(staged(avatars(image_tag='"v1.3.5"')), CODE, Severity.WARNING)


def test_rolling_images(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(image_tag='"latest"')), CODE, Severity.WARNING) == snapshot
