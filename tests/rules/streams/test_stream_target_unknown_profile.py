"""Targets that want a rendition which the stream does not have."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, ladder, listed, rung, silent, small, stream

CODE = "stream-target-unknown-profile"


def _pushed(profile: str, **settings: str) -> str:
    targets = f'{{ targets = [{{ profile = "{profile}", id = "5a1b" }}] }}'
    return broadcast(ladder(small(), rung()), stream(multistream=targets, **settings))


def test_misspelt_name(snapshot: SnapshotAssertion) -> None:
    assert flagged(_pushed("720", ladder='"live"'), CODE) == snapshot


def test_default_ladder_counts_when_none_is_declared(snapshot: SnapshotAssertion) -> None:
    assert flagged(_pushed("1080p0"), CODE) == snapshot
    for name in ("240p0", "360p0", "480p0", "720p0", "source"):
        silent(_pushed(name))


def test_only_the_source_is_left_of_no_profiles() -> None:
    assert "720p0" in flagged(_pushed("720p0", profiles="[]"), CODE)
    silent(_pushed("source", profiles="[]"))


def test_declared_profiles_are_all_there_is() -> None:
    assert "720p0" in flagged(_pushed("720p0", profiles=listed(rung())), CODE)
    assert "Source" in flagged(_pushed("Source", profiles=listed(rung())), CODE)
    silent(_pushed("720p", profiles=listed(rung())))
    silent(_pushed("360p", ladder='"live"'))


def test_name_that_stands_there_twice_is_told_once() -> None:
    assert "known: 720p, source\n" in flagged(_pushed("other", profiles=listed(rung(), rung())), CODE)
