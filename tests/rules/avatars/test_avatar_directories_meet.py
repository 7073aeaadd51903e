"""Sessions, recordings and the checkout of a stack in one directory."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "avatar-directories-meet"


def _stack(sessions: str, recordings: str) -> str:
    return staged(avatars(session_dir=f'"{sessions}"', recordings_dir=f'"{recordings}"'))


def test_one_directory_for_both(snapshot: SnapshotAssertion) -> None:
    assert flagged(_stack("/srv/stage", "/srv/stage"), CODE, Severity.WARNING) == snapshot
    default = staged(avatars(session_dir='"/home/ubuntu/recordings"'))
    assert flagged(default, CODE, Severity.WARNING)


def test_directory_of_a_slot_holds_the_others() -> None:
    assert flagged(_stack("/srv/stage", "/srv/stage/mira/recordings"), CODE, Severity.WARNING)
    assert flagged(_stack("/srv/stage/noor", "/srv/stage"), CODE, Severity.WARNING)


def test_directories_beside_each_other_are_fine() -> None:
    silent(_stack("/srv/stage", "/srv/stage/recordings"))
    silent(_stack("/srv/stage", "/srv/stage-recordings"))


def test_recordings_in_the_checkout(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(project_dir='"/srv/stack"', recordings_dir='"/srv/stack/recordings"'))
    assert flagged(text, CODE) == snapshot


def test_checkout_among_the_sessions() -> None:
    assert "session_dir" in flagged(staged(avatars(session_dir='"/home/ubuntu"')), CODE)


def test_directories_side_by_side_are_fine() -> None:
    silent(staged(avatars(project_dir='"/srv/stack"', recordings_dir='"/srv/stack-recordings"')))
