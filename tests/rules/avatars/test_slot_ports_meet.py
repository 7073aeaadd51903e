"""Slots of one host whose ports meet."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, checked, flagged, silent, staged

CODE = "slot-ports-meet"


def _two(first: int, second: int, **settings: str) -> str:
    slots = f'[{{ avatar = "mira", slot = {first} }}, {{ avatar = "noor", slot = {second} }}]'
    return staged(avatars(slots=slots, gpu='"all"', **settings), *_SILENCE)


_SILENCE = ('[silences.design]\ncode = "slot-beyond-public-design"\nreason = "networks of our own"\n',)


def test_signaling_of_one_slot_is_the_recorder_of_another(snapshot: SnapshotAssertion) -> None:
    assert flagged(_two(809, 0), CODE) == snapshot


def test_game_of_one_slot_is_the_signaling_of_another(snapshot: SnapshotAssertion) -> None:
    assert flagged(_two(0, 303), CODE) == snapshot


def test_numbers_one_further_apart_are_fine() -> None:
    silent(_two(0, 810))
    silent(_two(0, 304))


def test_absent_game_command_port_meets_nothing() -> None:
    silent(_two(0, 303, game_command="false"))


def test_many_slots_give_one_message_for_each_pair_of_services(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(slots="2001", gpu='"all"'), *_SILENCE)
    assert len([d for d in checked(text).diagnostics if d.code == CODE]) == 5
    assert flagged(text, CODE) == snapshot
