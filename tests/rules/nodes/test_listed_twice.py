"""GPUs and live runners that a list has twice."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, flagged, free_orchestrator, offchain, renting, silent, transcoder

CODE = "listed-twice"


ORCH = free_orchestrator(host='"edge"', secret=SECRET)


def test_id_twice(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(ORCH, transcoder(gpus="[1, 0, 1]")), CODE) == snapshot


def test_different_ids_are_fine() -> None:
    silent(offchain(ORCH, transcoder(gpus="[1, 0]")))


def test_the_node_refuses_one_label_twice(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runners='["echo", "echo"]'), CODE) == snapshot


def test_once_is_fine() -> None:
    silent(renting())
