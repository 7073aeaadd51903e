"""Warm models that leave their GPU little room."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.gpu.test_gpu_memory_exceeded import worker
from tests.rules.support import avatars, flagged, silent, staged

CODE = "gpu-memory-tight"


def test_more_than_85_percent(snapshot: SnapshotAssertion) -> None:
    assert flagged(worker("12 GiB"), CODE, Severity.WARNING) == snapshot


def test_85_percent_is_fine() -> None:
    silent(worker("11673 MiB"))
    assert CODE in flagged(worker("11674 MiB"), CODE, Severity.WARNING)


def test_slots_leave_less_than_the_guidance() -> None:
    assert "slots of stage take 3 times 8 GiB" in flagged(staged(avatars(slots="3")), CODE, Severity.WARNING)
    silent(staged(avatars(slots="2")))


def test_slots_that_see_every_gpu_and_leave_little() -> None:
    found = flagged(staged(avatars(gpu='"all"', slots="6", slot_memory='"7 GiB"')), CODE, Severity.WARNING)
    assert "have about 40.8 GiB left for them, at 85 % of all their memory" in found
    silent(staged(avatars(gpu='"all"', slots="5", slot_memory='"8 GiB"')))
