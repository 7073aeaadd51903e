"""AI workers and their orchestrators on different releases."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, silent, transcoder

CODE = "worker-older-than-orchestrator"


def _orchestrator(**settings: str | None) -> str:
    return free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "realvis" }]', **settings)


def test_worker_of_an_older_release(snapshot: SnapshotAssertion) -> None:
    text = offchain(model(), _orchestrator(), ai_worker(node_release='"v0.9.0"'))
    assert flagged(text, CODE) == snapshot


def test_orchestrator_that_runs_ahead_of_the_fleet(snapshot: SnapshotAssertion) -> None:
    text = offchain(model(), _orchestrator(node_release='"v0.9.1"'), ai_worker(), node_release='"v0.9.0"')
    assert flagged(text, CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(offchain(model(), _orchestrator(), ai_worker()))
    silent(offchain(model(), _orchestrator(node_release='"v0.9.0"'), ai_worker()))
    # Transcoders may be older.
    silent(offchain(free_orchestrator(host='"edge"', secret=SECRET), transcoder(node_release='"v0.8.0"')))
    # Worker of an orchestrator elsewhere is not compared.
    silent(offchain(model(), ai_worker(orchestrator='"orch.example.org:8935"', secret=SECRET, node_release='"v0.8.0"')))
