"""Two slots of a host with one number."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "slot-number-used-twice"


def test_two_slots_with_one_number(snapshot: SnapshotAssertion) -> None:
    slots = '[{ avatar = "mira", slot = 1 }, { avatar = "ada" }, { avatar = "noor", slot = 1 }]'
    assert flagged(staged(avatars(slots=slots, gpu='"all"')), CODE) == snapshot


def test_number_that_is_left_out_avoids_one_written_later() -> None:
    silent(staged(avatars(slots='[{ avatar = "ada" }, { avatar = "mira", slot = 0 }]')))
