"""Targets that the service refuses."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, flagged, ladder, listed, rung, silent, small, stream

CODE = "stream-target-refused"


SPEC = '{ url = { env = "TARGET_URL" } }'


def _target(more: str) -> str:
    return broadcast(stream(multistream=f'{{ targets = [{{ profile = "source"{more} }}] }}'))


def test_neither(snapshot: SnapshotAssertion) -> None:
    assert flagged(_target(""), CODE) == snapshot


def test_both(snapshot: SnapshotAssertion) -> None:
    assert flagged(_target(f', id = "5a1b", spec = {SPEC}'), CODE) == snapshot


def _targets(first: str, second: str) -> str:
    return broadcast(stream(multistream=f"{{ targets = [{first}, {second}] }}"))


def test_same_id(snapshot: SnapshotAssertion) -> None:
    one = '{ profile = "source", id = "5a1b" }'
    assert flagged(_targets(one, one.replace(" }", ", videoOnly = true }")), CODE) == snapshot


def test_unsound_specs_are_flagged() -> None:
    # Same address.
    one = '{ profile = "source", spec = { url = { env = "TARGET_URL" } } }'
    assert "twice" in flagged(_targets(one, one), CODE)
    # Name that stands there twice is told once.
    assert "known: 720p, source\n" in flagged(_pushed("other", profiles=listed(rung(), rung())), CODE)


def test_another_rendition_or_target_is_fine() -> None:
    one = '{ profile = "source", id = "5a1b" }'
    silent(_targets(one, one.replace("source", "720p0")))
    silent(_targets(one, one.replace("5a1b", "5a1c")))
    silent(_targets(one, '{ profile = "source", spec = { url = { env = "A" } } }'))


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
