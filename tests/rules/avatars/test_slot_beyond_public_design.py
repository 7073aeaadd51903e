"""Slots that the stack cannot serve."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "slot-beyond-public-design"


def _slot(number: int) -> str:
    return staged(avatars(slots=f'[{{ avatar = "mira" }}, {{ avatar = "noor", slot = {number} }}]'))


def test_slot_beyond_the_command_line(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slot(21), CODE, Severity.WARNING) == snapshot


def test_slot_beyond_the_networks(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slot(256), CODE, Severity.WARNING) == snapshot
    assert "command line" in flagged(_slot(255), CODE, Severity.WARNING)


def test_last_slot_of_the_command_line_is_fine() -> None:
    silent(_slot(19))


def test_gateway_of_a_slot_without_network_is_said() -> None:
    found = flagged(staged(avatars(slots='[{ avatar = "mira", slot = 256 }]')), CODE, Severity.WARNING)
    assert "Docker chooses the gateway of such a slot" in found
    lower = flagged(staged(avatars(slots='[{ avatar = "mira", slot = 255 }]')), CODE, Severity.WARNING)
    assert "gateway" not in lower
