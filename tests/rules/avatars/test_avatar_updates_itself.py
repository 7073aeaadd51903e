"""Hosts that replace the release of the spec."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "avatar-updates-itself"


def test_both_switches(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(cli_auto_update="true", auto_upgrade_when_sleeping="true"))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_rolling_tag_follows_what_is_newest() -> None:
    silence = '[silences.accepted]\ncode = "release-unknown"\nreason = "a stage for trying out"\n'
    stack = avatars(cli_auto_update="true", remote_cluster_control="true")
    silent(staged(stack, silence, avatar_release='"latest"'))


def test_commit_is_replaced_like_a_release() -> None:
    text = staged(avatars(cli_auto_update="true"), avatar_release='"sha-abc1234"')
    assert "stage should run sha-abc1234" in flagged(text, CODE, Severity.WARNING)


def test_switched_off_is_fine() -> None:
    silent(staged(avatars(cli_auto_update="false", auto_upgrade_when_sleeping="false")))
