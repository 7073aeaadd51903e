"""Seconds between key frames at a fractional frame rate."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, rung, silent

CODE = "key-frames-at-fractional-rate"


def test_node_forgets_the_denominator(snapshot: SnapshotAssertion) -> None:
    text = broadcast(ladder(rung(fps="30000", fpsDen="1001", gop='"2"')))
    found = flagged(text, CODE, Severity.WARNING)
    assert "every 60000 frames" in found
    assert found == snapshot


def test_whole_rate_source_rate_and_intra_are_fine() -> None:
    silent(broadcast(ladder(rung(fps="30", gop='"2"'))))
    silent(broadcast(ladder(rung(fps="30", fpsDen="1", gop='"2"'))))
    silent(broadcast(ladder(rung(fps="0", gop='"2"'))))
    silent(broadcast(ladder(rung(fps="30000", fpsDen="1001", gop='"intra"'))))
