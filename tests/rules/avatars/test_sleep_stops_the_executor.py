"""What a sleeping host keeps running."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "sleep-stops-the-executor"


def test_list_without_the_rotator(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(keep_running='["turn-server"]')), CODE, Severity.WARNING) == snapshot


def test_list_with_it_is_fine() -> None:
    silent(staged(avatars(keep_running='["turn-server", "orchestrator-edge-rotator"]')))
    silent(staged(avatars(keep_running="[]", remote_ops="false", remote_cluster_control="false")))
