"""Runners that nobody offers."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, renting, runner

CODE = "runner-not-offered"


def test_no_orchestrator_lists_it(snapshot: SnapshotAssertion) -> None:
    text = renting(runner(), runner("tiles", port="8990"))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
