"""Registrations with more services than the payments service takes."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "too-many-monitored-services"

TURN = '{ user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" }, address = "203.0.113.20" }'
ACCOUNT = 'id = "stage-1", address = "0x1111111111111111111111111111111111111111"'


def _slots(count: int, more: str = "", turn: str | None = TURN) -> str:
    registration = f"{{ {ACCOUNT}{more} }}"
    return staged(avatars(slots=str(count), gpu='"all"', slot_memory='"3 GiB"', turn=turn, registration=registration))


def test_thirteen_slots(snapshot: SnapshotAssertion) -> None:
    assert flagged(_slots(13), CODE) == snapshot
    assert "26 services" in flagged(_slots(13, turn=None), CODE)


def test_written_list(snapshot: SnapshotAssertion) -> None:
    names = ", ".join(f'"service-{index}"' for index in range(26))
    assert flagged(_slots(2, f", monitored_services = [{names}]"), CODE) == snapshot


def test_twelve_slots_with_turn_are_fine() -> None:
    silent(_slots(12))


def test_shorter_list_is_fine() -> None:
    silent(_slots(13, ', monitored_services = ["vtuber-turn-server"]'))


def test_host_that_does_not_register_may_monitor_more() -> None:
    silent(staged(avatars(slots="13", gpu='"all"', slot_memory='"3 GiB"')))
