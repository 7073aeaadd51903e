"""The port of TURN and what an edge makes of it."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, silent, staged

CODE = "turn-port-rewritten"

TURN = 'user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" }, address = "203.0.113.20"'


def test_another_port(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(edge="{ update_turn = true }", turn=f"{{ port = 3479, {TURN} }}"))
    assert flagged(text, CODE) == snapshot


def test_the_usual_port_or_no_rewriting_is_fine() -> None:
    silent(staged(avatars(edge="{ update_turn = true }", turn=f"{{ {TURN} }}")))
    silent(staged(avatars(turn=f"{{ port = 3479, {TURN} }}")))
