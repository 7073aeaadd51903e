"""Rollouts that wait for sessions of orchestrators that do not say how many they have."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, offchain, silent

CODE = "drain-without-sessions"
DRAIN = '[rollout]\ndrain = "10m"'


def test_orchestrator_without_metrics(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(), DRAIN), CODE, Severity.WARNING) == snapshot


def test_many_orchestrators_are_one_warning() -> None:
    text = offchain(free_orchestrator(), DRAIN)
    start = text.index("[orchestrators.orch]")
    table = text[start:].split("\n[", 1)[0]
    more = (table.replace("orchestrators.orch", f"orchestrators.o{number}") for number in range(7))
    said = flagged("\n\n".join((text, *more)), CODE, Severity.WARNING)
    assert "8 orchestrators do not say how many sessions they have, so each of their restarts waits for 10m" in said
    assert "orchestrators.o4 and 3 more" in said


def test_sound_specs_are_silent() -> None:
    # Orchestrator with metrics.
    silent(
        offchain(
            free_orchestrator(monitor="true"),
            DRAIN,
            '[monitoring]\nhost = "gpu"\nalertmanagers = ["203.0.113.10:9093"]',
        )
    )
    # Rollout that waits for nothing.
    silent(offchain(free_orchestrator()))
