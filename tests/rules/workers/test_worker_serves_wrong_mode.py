"""Workers whose orchestrator sells something else."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, transcoder

CODE = "worker-serves-wrong-mode"


def _orch(mode: str) -> str:
    models = None if mode == "video" else '[{ use = "realvis" }]'
    return free_orchestrator("orch", mode=f'"{mode}"', host='"edge"', secret=SECRET, models=models)


def test_transcoder_of_an_ai_orchestrator(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(model(), _orch("ai"), transcoder()), CODE) == snapshot


def test_ai_worker_of_a_video_orchestrator() -> None:
    assert "sells only video" in flagged(offchain(model(), _orch("video"), ai_worker()), CODE)
