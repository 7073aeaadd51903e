"""Odd widths and heights."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, listed, rung, silent, stream

CODE = "rendition-size-odd"


def test_odd_width(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(ladder(rung(width="853", height="480"))), CODE, Severity.WARNING) == snapshot


def test_odd_height_of_a_recording() -> None:
    recorded = "{ profiles = [{ bitrate = 3000000, height = 721 }] }"
    text = broadcast(stream(profiles=listed(rung()), record="true", recordingSpec=recorded))
    assert "write height = 722" in flagged(text, CODE, Severity.WARNING)


def test_even_size_is_fine() -> None:
    silent(broadcast(ladder(rung(width="854", height="480"))))
