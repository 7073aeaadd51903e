"""What recordings are made into, without a recording."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, stream

CODE = "stream-recording-spec-without-record"


def test_spec_without_record(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(stream(recordingSpec="{}")), CODE) == snapshot


def test_record_switched_off(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(stream(record="false", recordingSpec="{ profiles = [] }")), CODE) == snapshot
