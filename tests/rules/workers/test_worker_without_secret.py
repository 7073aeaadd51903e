"""Workers of other people's orchestrators without a secret."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, silent, transcoder

CODE = "worker-without-secret"
OUTSIDE = '"orch.example.org:8935"'


def test_no_secret(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(transcoder(orchestrator=OUTSIDE)), CODE) == snapshot
    assert flagged(offchain(model(), ai_worker(orchestrator=OUTSIDE)), CODE)


def test_secret_is_fine() -> None:
    silent(offchain(transcoder(orchestrator=OUTSIDE, secret=SECRET)))


def test_orchestrator_of_this_fleet_lends_its_own() -> None:
    silent(offchain(free_orchestrator(host='"edge"', secret=SECRET), transcoder()))
