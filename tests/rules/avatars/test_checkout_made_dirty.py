"""Directories inside the checkout of the stack."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "checkout-made-dirty"


def test_recordings_in_the_checkout(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(project_dir='"/srv/stack"', recordings_dir='"/srv/stack/recordings"'))
    assert flagged(text, CODE) == snapshot


def test_checkout_among_the_sessions() -> None:
    assert "session_dir" in flagged(staged(avatars(session_dir='"/home/ubuntu"')), CODE)


def test_directories_side_by_side_are_fine() -> None:
    silent(staged(avatars(project_dir='"/srv/stack"', recordings_dir='"/srv/stack-recordings"')))
