"""Hosts that go back while others of their batch are not healthy yet."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, offchain, silent

CODE = "confirm-too-short"
PAIR = "[rollout]\ncanary = 2\n"


def test_deadline_that_outlasts_the_confirmation(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(), f'{PAIR}deadline = "10m"'), CODE, Severity.WARNING) == snapshot


def test_confirmation_of_a_second(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(), f'{PAIR}confirm = "1s"'), CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    # Batches of one host wait for nobody.
    silent(offchain(free_orchestrator(), '[rollout]\ndeadline = "10m"'))
    # Usual times.
    silent(offchain(free_orchestrator(), PAIR))
