"""Models of an orchestrator that sells none."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_orchestrator, model, offchain, silent

CODE = "models-without-ai"


def test_video_orchestrator_with_models(snapshot: SnapshotAssertion) -> None:
    text = offchain(model(), free_orchestrator(models='[{ use = "realvis" }]'))
    assert flagged(text, CODE) == snapshot


def test_dual_orchestrator_is_fine() -> None:
    silent(offchain(model(), free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]')))
