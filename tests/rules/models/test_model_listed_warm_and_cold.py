"""Models that are warm and cold in one node."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, silent

CODE = "model-listed-warm-and-cold"
ORCH = free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]')


def test_both(snapshot: SnapshotAssertion) -> None:
    models = '[{ use = "realvis", warm = true }, { use = "realvis" }]'
    assert flagged(offchain(model(), ORCH, ai_worker(models=models)), CODE) == snapshot


def test_twice_warm_is_fine() -> None:
    models = '[{ use = "realvis", warm = true }, { use = "realvis", warm = true }]'
    silent(offchain(model(), ORCH, ai_worker(models=models, gpus="[0, 1]")))


def test_two_names_of_one_model_are_one() -> None:
    models = '[{ use = "realvis", warm = true }, { use = "alias" }]'
    assert flagged(offchain(model(), model("alias"), ORCH, ai_worker(models=models)), CODE)


def test_two_pipelines_of_one_model_are_two() -> None:
    models = '[{ use = "realvis", warm = true }, { use = "other" }]'
    other = model("other", pipeline='"image-to-image"')
    silent(offchain(model(), other, ORCH, ai_worker(models=models)))
