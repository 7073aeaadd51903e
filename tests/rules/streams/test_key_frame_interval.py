"""Key frame intervals that do not mean what they say."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, listed, printed, rung, silent, stream

CODE = "key-frame-interval"


@pytest.mark.parametrize("gop", ["2s", " 2", "Intra", "-1", "inf", "nan", "", "2.", "1e1"])
def test_text_that_is_no_distance(gop: str) -> None:
    text = broadcast(stream(profiles=listed(rung(gop=f'"{gop}"'))))
    assert "gop" in flagged(text, CODE, Severity.WARNING)


def test_message(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(stream(profiles=listed(rung(gop='"2s"')))), CODE, Severity.WARNING) == snapshot


def test_recording_too() -> None:
    recorded = '{ profiles = [{ bitrate = 3000000, gop = "2s" }] }'
    assert "2s" in flagged(broadcast(stream(record="true", recordingSpec=recorded)), CODE, Severity.WARNING)


@pytest.mark.parametrize("gop", ["intra", "0", "2", "2.0", "0.5"])
def test_distance_is_fine(gop: str) -> None:
    silent(broadcast(stream(profiles=listed(rung(gop=f'"{gop}"')))))


def test_for_a_node_it_is_an_error_and_said_once() -> None:
    found = printed(broadcast(stream(gateway='"gate"', profiles=listed(rung(gop='"2s"')))))
    assert "ladder-unfit-for-node" in found
    assert CODE not in found


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
