"""Rollouts that wait for sessions of orchestrators that do not say how many they have."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, offchain, silent

CODE = "drain-without-sessions"
DRAIN = '[rollout]\ndrain = "10m"'


def test_orchestrator_without_metrics(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(), DRAIN), CODE, Severity.WARNING) == snapshot


def test_orchestrator_with_metrics() -> None:
    silent(
        offchain(
            free_orchestrator(monitor="true"),
            DRAIN,
            '[monitoring]\nhost = "gpu"\nalertmanagers = ["203.0.113.10:9093"]',
        )
    )


def test_rollout_that_waits_for_nothing() -> None:
    silent(offchain(free_orchestrator()))
