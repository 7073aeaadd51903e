"""A denominator without a frame rate."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, rung

CODE = "frame-rate-denominator-unused"


def test_denominator_of_the_rate_of_the_source(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(ladder(rung(fps="0", fpsDen="1001"))), CODE, Severity.WARNING) == snapshot


def test_denominator_without_any_rate() -> None:
    assert "fpsDen" in flagged(broadcast(ladder(rung(fps=None, fpsDen="1"))), CODE, Severity.WARNING)
