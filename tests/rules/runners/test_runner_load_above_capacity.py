"""Loads beyond what orchestrators let in."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, renting, runner, signer, silent

CODE = "runner-load-above-capacity"


def expecting(load: str, capacity: str | None) -> str:
    pays = signer(
        buys_runners='["echo"]', runner_load=f'{{ echo = "{load}" }}', max_price='"any"', allow_no_auth="true"
    )
    return renting(runner(capacity=capacity), tables=(pays,))


def test_more_sessions_than_the_capacity(snapshot: SnapshotAssertion) -> None:
    assert flagged(expecting("4.5 sessions", "4"), CODE, Severity.WARNING) == snapshot
    silent(expecting("4 sessions", "4"))


def test_one_session_by_default() -> None:
    assert "its capacity is 1 by default" in flagged(expecting("1.1 sessions", None), CODE, Severity.WARNING)
    silent(expecting("1 session", None))
