"""Runners that clients cannot go on paying for."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, printed, renting, runner, silent

CODE = "runner-sold-by-time-on-old-release"


def test_by_the_hour_on_the_first_release(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(node_release='"v0.9.0"'), CODE, Severity.WARNING) == snapshot


def test_by_request_or_on_the_next_release() -> None:
    assert CODE not in printed(renting(runner(price='"0.0001 USD / request"'), node_release='"v0.9.0"'))
    silent(renting())
