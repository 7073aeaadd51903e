"""A GPU id that stands twice in one list."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, flagged, free_orchestrator, offchain, silent, transcoder

CODE = "gpu-listed-twice"
ORCH = free_orchestrator(host='"edge"', secret=SECRET)


def test_id_twice(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(ORCH, transcoder(gpus="[1, 0, 1]")), CODE) == snapshot


def test_different_ids_are_fine() -> None:
    silent(offchain(ORCH, transcoder(gpus="[1, 0]")))
