"""NetInt devices beside GPUs."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, flagged, free_orchestrator, offchain, transcoder

CODE = "netint-with-gpus"
ORCH = free_orchestrator(host='"edge"', secret=SECRET)


def test_both(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(ORCH, transcoder(gpus="[0]", netint='["0"]')), CODE) == snapshot
