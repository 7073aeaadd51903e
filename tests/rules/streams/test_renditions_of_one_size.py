"""Two renditions of one size."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, small

CODE = "renditions-of-one-size"


def test_copy_whose_size_was_forgotten(snapshot: SnapshotAssertion) -> None:
    text = broadcast(ladder(small("360p"), small("480p", bitrate="1600000")))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
