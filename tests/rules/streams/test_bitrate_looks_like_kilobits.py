"""Bit rates written in kilobits."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, listed, rung, silent, stream

CODE = "bitrate-looks-like-kilobits"


def test_rate_of_a_ladder(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(ladder(rung(bitrate="3000"))), CODE, Severity.WARNING) == snapshot


def test_rates_of_a_stream_and_of_its_recording() -> None:
    recorded = "{ profiles = [{ bitrate = 19999 }] }"
    text = broadcast(stream(profiles=listed(rung(bitrate="400")), record="true", recordingSpec=recorded))
    assert flagged(text, CODE, Severity.WARNING).endswith("2 warnings\n")


def test_bits_a_second_are_fine() -> None:
    silent(broadcast(ladder(rung(bitrate="20000"))))
    silent(
        broadcast(stream(profiles=listed(rung()), record="true", recordingSpec="{ profiles = [{ bitrate = 20000 }] }"))
    )
