"""Runners that an orchestrator lists twice."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, renting, silent

CODE = "runner-listed-twice"


def test_the_node_refuses_one_label_twice(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runners='["echo", "echo"]'), CODE) == snapshot


def test_once_is_fine() -> None:
    silent(renting())
