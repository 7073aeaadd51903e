"""Runners that nobody offers."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, renting, runner, silent

CODE = "runner-not-offered"


def test_no_orchestrator_lists_it(snapshot: SnapshotAssertion) -> None:
    text = renting(runner(), runner("tiles", port="8990"))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_one_that_is_listed_is_fine() -> None:
    silent(renting(runner(), runner("tiles", port="8990"), runners='["echo", "tiles"]'))
