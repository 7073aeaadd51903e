"""Warm models that are too large for their GPU together."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, silent

CODE = "gpu-memory-exceeded"
ORCH = free_orchestrator(
    mode='"dual"', transcoding='"local"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }, { use = "big" }]'
)
MODELS = '[{ use = "big", warm = true }, { use = "realvis", warm = true }]'


def _worker(big: str = "20 GiB", **settings: str | None) -> str:
    models = [model(memory='"9 GiB"'), model("big", id='"org/big"', memory=f'"{big}"')]
    return offchain(*models, ORCH, ai_worker(**{"models": MODELS, "containers_per_gpu": "2", **settings}))


def test_two_models_on_one_gpu(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worker(), CODE) == snapshot


def test_a_gpu_each_is_fine() -> None:
    silent(_worker(gpus="[0, 1]"))


def test_a_cold_model_is_fine() -> None:
    silent(_worker(models=MODELS.replace('"big", warm = true', '"big", warm = false')))


def test_a_container_for_each_request_at_once(snapshot: SnapshotAssertion) -> None:
    many = '[{ use = "realvis", warm = true, capacity = 6 }]'
    assert flagged(_worker(models=many, gpus="[0, 1]", containers_per_gpu="3"), CODE) == snapshot


def test_a_model_larger_than_any_gpu(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worker("80 GiB", models='[{ use = "big", warm = true }]'), CODE) == snapshot
