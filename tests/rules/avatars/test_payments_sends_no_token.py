"""Tokens that the payments service does not send."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "payments-sends-no-token"


def test_runner_token(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(runner_token='{ env = "AVATAR_RUNNER_TOKEN" }')), CODE, Severity.WARNING) == snapshot


def test_recordings_token_and_signatures() -> None:
    text = staged(avatars(recordings_token='{ env = "TOKEN" }', ops='{ secret = { env = "OPS" }, required = true }'))
    found = flagged(text, CODE, Severity.WARNING)
    assert "its recordings fail" in found
    assert "its upgrades fail" in found


def test_signatures_that_are_not_required_are_fine() -> None:
    silent(staged(avatars(ops='{ secret = { env = "OPS" } }')))
