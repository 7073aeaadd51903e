"""Runners at a node that does not know them."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, renting

CODE = "runners-unknown-to-release"


def test_release_before_runners(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(node_release='"v0.8.10"'), CODE) == snapshot
