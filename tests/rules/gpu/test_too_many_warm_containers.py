"""Warm containers and the slots they need."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, host, model, offchain, silent

CODE = "too-many-warm-containers"
ORCH = free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]')
TWO = '[{ use = "realvis", warm = true }, { use = "other", warm = true }]'


def _worker(**settings: str | None) -> str:
    return offchain(host("bare"), model(), model("other", id='"org/other"'), ORCH, ai_worker(**settings))


def test_two_models_on_one_gpu(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worker(models=TWO), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    # Two models on two GPUs are fine.
    silent(_worker(models=TWO, gpus="[0, 1]"))
    silent(_worker(models=TWO, gpus='"all"'))
    silent(_worker(models=TWO, containers_per_gpu="2"))
    # Capacity is no container in older releases.
    many = '[{ use = "realvis", warm = true, capacity = 3 }]'
    silent(_worker(models=many).replace('node_release = "v0.9.1"', 'node_release = "v0.8.5"'))
    # Cold models and containers managed elsewhere take no slot.
    models = '[{ use = "realvis", warm = true }, { use = "other" }]'
    silent(_worker(models=models))
    silent(_worker(models=models.replace('"other"', '"other", warm = true, url = "http://10.0.0.1:8000"')))
    # Unknown number of GPUs says nothing.
    silent(_worker(models=TWO, host='"bare"', gpus='"all"'))


def test_capacity_is_a_container_each() -> None:
    many = '[{ use = "realvis", warm = true, capacity = 3 }]'
    assert "keeps 3 containers warm" in flagged(_worker(models=many, gpus="[0, 1]"), CODE)


def test_cpu_has_one_slot(snapshot: SnapshotAssertion) -> None:
    silent(_worker(gpus=None))
    assert flagged(_worker(models=TWO, gpus=None), CODE) == snapshot
