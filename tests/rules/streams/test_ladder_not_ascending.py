"""Ladders that begin at the top."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, listed, rung, small, stream

CODE = "ladder-not-ascending"


def test_largest_first(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(ladder(rung(), small())), CODE, Severity.WARNING) == snapshot


def test_list_of_a_stream_and_one_message_for_a_list() -> None:
    rungs = listed(rung("a", width="1920", height="1080"), rung("b"), small("c"))
    assert flagged(broadcast(stream(profiles=rungs)), CODE, Severity.WARNING).endswith("\n1 warning\n")
