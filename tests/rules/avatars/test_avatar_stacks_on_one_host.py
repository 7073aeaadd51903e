"""Two avatar stacks on one machine."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "avatar-stacks-on-one-host"


def test_two_stacks_on_one_host(snapshot: SnapshotAssertion) -> None:
    second = avatars("studio", slots='[{ avatar = "ada", slot = 5 }]')
    assert flagged(staged(avatars(), second), CODE) == snapshot


def test_a_host_each_is_fine() -> None:
    silent(staged(avatars(), avatars("studio", host='"edge"', slots='[{ avatar = "ada" }]')))
