"""Slots that leave open which GPU they use."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "slot-gpu-unsaid"


def test_slots_on_a_host_with_two_gpus(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(gpu=None)), CODE, Severity.WARNING) == snapshot


def test_slots_that_say_so_are_fine() -> None:
    silent(staged(avatars(gpu='"all"')))
    silent(staged(avatars(gpu=None, slots='[{ avatar = "mira", gpu = 0 }, { avatar = "noor", gpu = 1 }]')))
    silent(staged(avatars(gpu=None, host='"edge"')))
