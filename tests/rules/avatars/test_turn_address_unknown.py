"""What TURN and a registration tell others about the host."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "turn-address-unknown"

TURN = '{ user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" } }'
REGISTRATION = '{ id = "stage-1", address = "0x1111111111111111111111111111111111111111" }'


def _nameless(text: str) -> str:
    return text.replace('public = "orch.example.net"\n', "")


def test_name_of_the_host(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(turn=TURN)), CODE) == snapshot


def test_no_address_at_all(snapshot: SnapshotAssertion) -> None:
    assert flagged(_nameless(staged(avatars(turn=TURN, registration=REGISTRATION))), CODE) == snapshot


def test_address_of_the_edge_the_stack_or_turn_is_fine() -> None:
    silent(staged(avatars(turn=TURN, edge='{ addresses = ["203.0.113.5"] }')))
    silent(_nameless(staged(avatars(turn=TURN, registration=REGISTRATION, public='"203.0.113.20"'))))
    silent(staged(avatars(turn=TURN.replace("{ user =", '{ address = "203.0.113.20", user ='))))
