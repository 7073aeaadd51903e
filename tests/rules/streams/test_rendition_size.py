"""Sizes that encoders and nodes change."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, listed, printed, rung, silent, stream

CODE = "rendition-size"


def test_odd_width(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(ladder(rung(width="853", height="480"))), CODE, Severity.WARNING) == snapshot


def test_unsound_specs_are_flagged() -> None:
    # Odd height of a recording.
    recorded = "{ profiles = [{ bitrate = 3000000, height = 721 }] }"
    text = broadcast(stream(profiles=listed(rung()), record="true", recordingSpec=recorded))
    assert "write height = 722" in flagged(text, CODE, Severity.WARNING)
    # Low rendition of a ladder that nobody uses.
    assert "height 48" in flagged(broadcast(ladder(rung(height="48"))), CODE, Severity.WARNING)


def test_sound_specs_are_silent() -> None:
    silent(broadcast(ladder(rung(width="854", height="480"))))
    silent(
        broadcast(stream(profiles=listed(rung("a", width="146", height="128"), rung("b", width="4096", height="4096"))))
    )


def test_narrow_rendition_of_a_stream(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(stream(profiles=listed(rung(width="144")))), CODE, Severity.WARNING) == snapshot


@pytest.mark.parametrize(("key", "side"), [("width", "4098"), ("height", "4098")])
def test_large_rendition(key: str, side: str) -> None:
    assert side in flagged(broadcast(stream(profiles=listed(rung(**{key: side})))), CODE, Severity.WARNING)


def test_for_a_node_it_is_an_error_and_said_once() -> None:
    found = printed(broadcast(stream(gateway='"gate"', profiles=listed(rung(width="144")))))
    assert "ladder-unfit-for-node" in found
    assert CODE not in found
