"""Remote workers of orchestrators that work alone."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, silent, transcoder

CODE = "workers-never-accepted"


def test_transcoder_of_one_that_transcodes_itself(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(transcoding='"local"', host='"edge"'), transcoder())
    assert flagged(text, CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(offchain(free_orchestrator(transcoding='"remote"', host='"edge"', secret=SECRET), transcoder()))
    silent(offchain(free_orchestrator(host='"edge"', secret=SECRET), transcoder()))
    # Kinds of work are told apart.
    settings = {"mode": '"dual"', "host": '"edge"', "secret": SECRET, "models": '[{ use = "realvis" }]'}
    silent(offchain(model(), free_orchestrator(transcoding='"local"', **settings), ai_worker("a")))


def test_ai_worker_of_one_that_runs_models_itself() -> None:
    settings = {"mode": '"dual"', "host": '"edge"', "secret": SECRET, "models": '[{ use = "realvis" }]'}
    text = offchain(
        model(), free_orchestrator(ai_work='"local"', **settings), ai_worker("a"), ai_worker("b", gpus="[1]")
    )
    assert "2 nodes" in flagged(text, CODE)
    silent(offchain(model(), free_orchestrator(ai_work='"remote"', **settings), ai_worker("a")))
