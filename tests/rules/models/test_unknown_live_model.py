"""Live models without a runner image."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, model, offchain, silent

CODE = "unknown-live-model"


def _live(**settings: str) -> str:
    return offchain(model(pipeline='"live-video-to-video"', **settings))


def test_misspelt_application(snapshot: SnapshotAssertion) -> None:
    assert flagged(_live(id='"streamdifusion"'), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(_live(id='"streamdiffusion"'))
    silent(_live(id='"our-app"', image='"registry.example.net/our-app:v1.2.3"'))
