"""Rolling tags and remote cluster control."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "cluster-control-unsaid"


def test_rolling_tag(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(), avatar_release='"latest"'), CODE, Severity.WARNING) == snapshot


def test_tag_of_a_commit() -> None:
    text = staged(avatars(), avatar_release='"sha-abc1234"')
    assert "a tag of a commit" in flagged(text, CODE, Severity.WARNING)


def test_said_aloud_is_fine() -> None:
    silence = '[silences.accepted]\ncode = "release-unknown"\nreason = "a stage for trying out"\n'
    silent(staged(avatars(remote_cluster_control="false"), silence, avatar_release='"latest"'))


def test_release_decides_where_there_is_one() -> None:
    silent(staged(avatars()))
