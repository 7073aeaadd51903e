"""orchestrator-health on another port."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "health-port-moved"


def test_another_port(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(health_port="9191")), CODE, Severity.WARNING) == snapshot


def test_the_known_port_is_fine() -> None:
    silent(staged(avatars(health_port="9090")))
