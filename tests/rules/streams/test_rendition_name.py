"""Names of renditions."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import broadcast, flagged, ladder, listed, rung, silent, small, stream

CODE = "rendition-name"


def test_two_of_one_name(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(ladder(small("low"), rung("low"))), CODE) == snapshot


def test_the_word_for_the_stream_itself(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(stream(profiles=listed(rung("source")))), CODE) == snapshot


def test_recording() -> None:
    one = '{ name = "a", bitrate = 3000000 }'
    spec = f"{{ profiles = [{one}, {{ bitrate = 1000000 }}, {{ bitrate = 2000000 }}, {one}] }}"
    found = flagged(broadcast(stream(record="true", recordingSpec=spec)), CODE)
    assert found.endswith("\n1 error\n")


def test_sound_specs_are_silent() -> None:
    silent(broadcast(ladder(small(), rung("Source"))))
    spec = "{ profiles = [{ bitrate = 1000000 }, { bitrate = 2000000 }] }"
    silent(broadcast(stream(record="true", recordingSpec=spec)))
    silent(broadcast(stream(profiles=listed(small("360p_v1.0-low"), rung()))))


@pytest.mark.parametrize("name", ["720p / sport", "a/b", "..", "ü", ".hidden"])
def test_name_that_is_not_plain(name: str) -> None:
    assert "part of paths" in flagged(broadcast(stream(profiles=listed(rung(name)))), CODE, Severity.WARNING)


def test_message(snapshot: SnapshotAssertion) -> None:
    text = broadcast(stream(profiles=listed(small("low"), rung("LOW"))), ladder(rung("a b")))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_twins_are_told_for_a_node_too() -> None:
    text = broadcast(ladder(small("low"), rung("Low")), ladder='"live"')
    assert "differ only in case" in flagged(text, CODE, Severity.WARNING)
