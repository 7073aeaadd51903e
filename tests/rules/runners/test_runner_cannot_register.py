"""Runners that an orchestrator turns away."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, renting, runner, silent

CODE = "runner-cannot-register"


ITSELF = runner(register_by='"runner"', health=None)


def test_switched_off(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(ITSELF, live_runners="false"), CODE) == snapshot


def test_without_a_secret(snapshot: SnapshotAssertion) -> None:
    text = renting(ITSELF, mode='"dual"', price='"1200 wei / pixel"', secret=None)
    assert flagged(text, CODE) == snapshot


def test_with_a_secret() -> None:
    silent(renting(ITSELF))
    silent(renting(ITSELF, live_runners="true"))
