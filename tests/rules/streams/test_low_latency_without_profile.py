"""Low latency without a profile that allows it."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, listed, rung, silent, stream

CODE = "low-latency-without-profile"


def test_short_distance_on_a_node(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(ladder(rung(gop='"1"')), ladder='"live"'), CODE, Severity.WARNING) == snapshot


def test_ladder_of_a_stream_that_a_gateway_gets() -> None:
    text = broadcast(stream(gateway='"gate"', profiles=listed(rung(gop='"0.5"'))))
    assert "every 0.5 s" in flagged(text, CODE, Severity.WARNING)


def test_profile_longer_distance_or_the_service_are_fine() -> None:
    silent(broadcast(ladder(rung(gop='"1"', profile='"H264ConstrainedHigh"')), ladder='"live"'))
    silent(broadcast(ladder(rung(gop='"2"')), ladder='"live"'))
    silent(broadcast(ladder(rung(gop='"intra"')), ladder='"live"'))
    silent(broadcast(stream(profiles=listed(rung(gop='"1"')))))
