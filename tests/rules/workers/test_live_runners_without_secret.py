"""Live runners that anybody could be."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, flagged, free_orchestrator, offchain, silent

CODE = "live-runners-without-secret"


def test_neither_secret_nor_list(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(live_runners="true")), CODE) == snapshot


def test_either_is_fine() -> None:
    silent(offchain(free_orchestrator(live_runners="true", secret=SECRET)))
    silent(offchain(free_orchestrator(live_runners="true", live_runner_config='"/etc/runners.json"')))


def test_runners_switched_off_are_fine() -> None:
    silent(offchain(free_orchestrator(live_runners="false")))
