"""Relay ports of TURN and slots."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "relay-ports-too-few"


def _relay(ports: str) -> str:
    turn = f'relay_ports = "{ports}", user = {{ env = "U" }}, password = {{ env = "P" }}, address = "203.0.113.20"'
    return staged(avatars(slots="4", gpu='"all"', turn=f"{{ {turn} }}"))


def test_fewer_ports_than_slots(snapshot: SnapshotAssertion) -> None:
    assert flagged(_relay("49160-49162"), CODE, Severity.WARNING) == snapshot


def test_one_for_each_is_fine() -> None:
    silent(_relay("49160-49163"))
