"""Warm models that leave their GPU little room."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, ai_worker, avatars, flagged, free_orchestrator, model, offchain, silent, staged

CODE = "gpu-memory-tight"
ORCH = free_orchestrator(
    mode='"dual"', transcoding='"local"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }, { use = "big" }]'
)
MODELS = '[{ use = "big", warm = true }, { use = "realvis", warm = true }]'


def _worker(big: str = "20 GiB", **settings: str | None) -> str:
    models = [model(memory='"9 GiB"'), model("big", id='"org/big"', memory=f'"{big}"')]
    return offchain(*models, ORCH, ai_worker(**{"models": MODELS, "containers_per_gpu": "2", **settings}))


def test_more_than_85_percent(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worker("12 GiB"), CODE, Severity.WARNING) == snapshot


def test_85_percent_is_fine() -> None:
    silent(_worker("11673 MiB"))
    assert CODE in flagged(_worker("11674 MiB"), CODE, Severity.WARNING)


def test_silenced_with_a_reason() -> None:
    silent(_worker("12 GiB") + '[silences.accepted]\ncode = "gpu-memory-tight"\nreason = "measured for a month"\n')


def test_slots_leave_less_than_the_guidance() -> None:
    assert "slots of stage take 3 times 8 GiB" in flagged(staged(avatars(slots="3")), CODE, Severity.WARNING)
    silent(staged(avatars(slots="2")))


def test_slots_that_see_every_gpu_and_leave_little() -> None:
    found = flagged(staged(avatars(gpu='"all"', slots="6", slot_memory='"7 GiB"')), CODE, Severity.WARNING)
    assert "have about 40.8 GiB left for them, at 85 % of all their memory" in found
    silent(staged(avatars(gpu='"all"', slots="5", slot_memory='"8 GiB"')))
