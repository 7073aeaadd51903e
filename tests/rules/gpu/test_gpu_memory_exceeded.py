"""Warm models that are too large for their GPU together."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    ai_worker,
    avatars,
    checked,
    flagged,
    free_orchestrator,
    host,
    model,
    offchain,
    silent,
    staged,
)

CODE = "gpu-memory-exceeded"
ORCH = free_orchestrator(
    mode='"dual"', transcoding='"local"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }, { use = "big" }]'
)
MODELS = '[{ use = "big", warm = true }, { use = "realvis", warm = true }]'


def worker(big: str = "20 GiB", **settings: str | None) -> str:
    models = [model(memory='"9 GiB"'), model("big", id='"org/big"', memory=f'"{big}"')]
    return offchain(*models, ORCH, ai_worker(**{"models": MODELS, "containers_per_gpu": "2", **settings}))


def test_two_models_on_one_gpu(snapshot: SnapshotAssertion) -> None:
    assert flagged(worker(), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(worker(gpus="[0, 1]"))
    silent(worker(models=MODELS.replace('"big", warm = true', '"big", warm = false')))


def test_a_container_for_each_request_at_once(snapshot: SnapshotAssertion) -> None:
    many = '[{ use = "realvis", warm = true, capacity = 6 }]'
    assert flagged(worker(models=many, gpus="[0, 1]", containers_per_gpu="3"), CODE) == snapshot


def test_a_model_larger_than_any_gpu(snapshot: SnapshotAssertion) -> None:
    assert flagged(worker("80 GiB", models='[{ use = "big", warm = true }]'), CODE) == snapshot


def _slots(count: int, *tables: str, **settings: str | None) -> str:
    slots = ", ".join(f'{{ avatar = "a{number}" }}' for number in range(count))
    return staged(avatars(**{"slots": f"[{slots}]", "slot_memory": '"9 GiB"', **settings}), *tables)


def test_slots_on_one_gpu(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slots(3), CODE) == snapshot
    silent(_slots(2))


def test_suggested_gpu_of_a_slot_repairs_the_spec() -> None:
    found = flagged(_slots(3), CODE)
    assert "write gpu = 0 in avatars.stage.slots.0" in found
    moved = '[{ avatar = "a0", gpu = 0 }, { avatar = "a1" }, { avatar = "a2" }]'
    silent(_slots(3, slots=moved))


def test_slots_beside_warm_models(snapshot: SnapshotAssertion) -> None:
    worker = ai_worker(gpus="[1]", models='[{ use = "big", warm = true }]')
    text = _slots(1, model(), model("big", id='"org/big"', memory='"20 GiB"'), ORCH, worker)
    assert flagged(text, CODE) == snapshot
    assert "gpus = [0] in ai_workers.worker" in flagged(text, CODE)


def test_counted_slots_have_one_place(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(slots="4")), CODE) == snapshot
    assert "slots = 2 in avatars.stage" in flagged(staged(avatars(slots="10")), CODE)
    assert "take 10 times 8 GiB" in flagged(staged(avatars(slots="10")), CODE)
    silent(staged(avatars(slots="2")))


ONE_GPU = '[{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }]'


def test_slots_that_see_the_only_gpu_stand_on_it() -> None:
    on_one = {"host": '"box"', "gpu": '"all"'}
    text = staged(avatars(**on_one, slots="9"), host("box", gpus=ONE_GPU))
    assert "GPU 0 of host box has 24 GiB of memory, but its work needs 72 GiB" in flagged(text, CODE)
    assert "slots = 2 in avatars.stage" in flagged(text, CODE)
    silent(staged(avatars(**on_one, slots="2"), host("box", gpus=ONE_GPU)))


def test_slots_that_see_several_gpus_are_compared_with_all_of_them(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slots(6, gpu='"all"'), CODE) == snapshot
    silent(_slots(4, gpu='"all"'))
    counted = flagged(staged(avatars(slots="9", gpu='"all"')), CODE)
    assert "need 72 GiB of memory, but the GPUs have 48 GiB left for them" in counted
    assert "there is room for 6 of these 9 slots" in counted


def test_slots_that_see_several_gpus_stand_beside_slots_of_one() -> None:
    mixed = '[{ avatar = "a", gpu = 0 }, { avatar = "b" }, { avatar = "c" }, { avatar = "d" }, { avatar = "e" }]'
    assert "have 39 GiB left for them" in flagged(
        _slots(0, slots=mixed.replace("]", ', { avatar = "f" }]'), gpu='"all"'), CODE
    )
    silent(_slots(0, slots=mixed.replace(', { avatar = "e" }', ""), gpu='"all"'))


def test_slots_are_not_compared_with_gpus_of_unknown_memory() -> None:
    gpus = '[{ model = "RTX 4090", encode_sessions = 8 }, { model = "Unheard 1", encode_sessions = 8 }]'
    text = staged(avatars(host='"box"', gpu='"all"', slots="9"), host("box", gpus=gpus))
    assert CODE not in {d.code for d in checked(text).diagnostics}
