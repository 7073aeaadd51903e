"""Ladders that a node does not take."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, ladder, listed, printed, rung, silent, small, stream

CODE = "ladder-unfit-for-node"


FAULTS = {
    "width": rung(width="145"),
    "height": rung(height="49"),
    "large": rung(width="4097"),
    "bitrate": rung(bitrate="2147483648"),
    "gop": rung(gop='"2s"'),
    "name": rung("a b"),
}


@pytest.mark.parametrize("key", FAULTS)
def test_each_bound_of_the_node(key: str, snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(ladder(FAULTS[key]), ladder='"live"'), CODE) == snapshot


def test_rate_beyond_reason() -> None:
    text = broadcast(stream(gateway='"gate"', profiles=listed(rung(fps="1000001"))))
    assert "too high" in flagged(text, CODE)


def test_profiles_of_a_stream_that_the_gateway_gets(snapshot: SnapshotAssertion) -> None:
    text = broadcast(
        stream(gateway='"gate"', profiles=listed(small(width="130"), rung())), auth_webhook='"https://a.example/"'
    )
    assert flagged(text, CODE) == snapshot


def test_each_destination_has_its_own_message() -> None:
    found = printed(broadcast(ladder(rung(height="40")), stream(ladder='"live"'), ladder='"live"'))
    assert "error[ladder-unfit-for-node]" in found
    assert "error[ladder-unfit-for-api]" in found


def test_bounds_are_fine() -> None:
    rungs = (
        rung("a", width="146", height="50", gop='"2"'),
        rung("b", width="4096", height="4096", bitrate="2147483647", gop='"intra"'),
    )
    silent(broadcast(ladder(*rungs), ladder='"live"'))


@pytest.mark.parametrize("key", ["width", "large", "gop", "name", "bitrate"])
def test_the_service_alone_takes_them(key: str) -> None:
    assert "error" not in printed(broadcast(stream(profiles=listed(FAULTS[key]))))
