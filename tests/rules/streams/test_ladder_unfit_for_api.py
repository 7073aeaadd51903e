"""Ladders that the stream API refuses."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, ladder, rung, silent, small, stream

CODE = "ladder-unfit-for-api"


FAULTS = {
    "width": rung(width="126"),
    "height": rung(width="214", height="120"),
    "bitrate": rung(bitrate="399"),
    "fps": rung(fps=None),
    "encoder": rung(encoder='"HEVC"'),
    "colorDepth": rung(colorDepth="0"),
    "chromaFormat": rung(chromaFormat="1"),
}


@pytest.mark.parametrize("key", FAULTS)
def test_each_bound_of_the_api(key: str, snapshot: SnapshotAssertion) -> None:
    text = broadcast(ladder(FAULTS[key]), stream(ladder='"live"'))
    assert flagged(text, CODE) == snapshot


def test_every_fault_has_its_own_message() -> None:
    text = broadcast(ladder(small(height="120", encoder='"VP9"'), rung(fps=None)), stream(ladder='"live"'))
    assert flagged(text, CODE).endswith("\n3 errors\n")


@pytest.mark.parametrize("key", ["height", "fps", "encoder", "colorDepth", "chromaFormat"])
def test_the_node_takes_them(key: str) -> None:
    silent(broadcast(ladder(FAULTS[key]), ladder='"live"'))


def test_bounds_are_fine() -> None:
    text = ladder(rung("a", width="146", height="128", bitrate="20000", fps="0", encoder='"H.264"'))
    silent(broadcast(text, stream(ladder='"live"')))
