"""Names of renditions that are not their own."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, ladder, listed, rung, silent, small, stream

CODE = "rendition-named-twice"


def test_two_of_one_name(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(ladder(small("low"), rung("low"))), CODE) == snapshot


def test_the_word_for_the_stream_itself(snapshot: SnapshotAssertion) -> None:
    assert flagged(broadcast(stream(profiles=listed(rung("source")))), CODE) == snapshot


def test_recording() -> None:
    one = '{ name = "a", bitrate = 3000000 }'
    spec = f"{{ profiles = [{one}, {{ bitrate = 1000000 }}, {{ bitrate = 2000000 }}, {one}] }}"
    found = flagged(broadcast(stream(record="true", recordingSpec=spec)), CODE)
    assert found.endswith("\n1 error\n")


def test_names_of_their_own_are_fine() -> None:
    silent(broadcast(ladder(small(), rung("Source"))))
    spec = "{ profiles = [{ bitrate = 1000000 }, { bitrate = 2000000 }] }"
    silent(broadcast(stream(record="true", recordingSpec=spec)))
