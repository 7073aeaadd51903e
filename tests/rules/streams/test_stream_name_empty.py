"""Streams without a name."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, silent, stream

CODE = "stream-name-empty"


def test_empty_name(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(stream(name='""')), CODE, Severity.WARNING) == snapshot


def test_name_or_none_is_fine() -> None:
    silent(broadcast(stream(name='"main stage"')))
    silent(broadcast(stream()))
