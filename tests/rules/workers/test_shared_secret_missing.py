"""Orchestrators and workers without a secret."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, silent, transcoder

CODE = "shared-secret-missing"


AI = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "host": '"edge"'}


def test_remote_transcoders(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(host='"edge"'), transcoder("a"), transcoder("b", cli='"127.0.0.1:6936"'))
    assert flagged(text, CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(offchain(free_orchestrator(host='"edge"', secret=SECRET), transcoder()))
    # Local transcoding accepts nobody.
    silent(offchain(free_orchestrator()))
    silent(offchain(transcoder(orchestrator=OUTSIDE, secret=SECRET)))
    silent(offchain(free_orchestrator(live_runners="true", secret=SECRET)))
    silent(offchain(free_orchestrator(live_runners="true", live_runner_config='"/etc/runners.json"')))
    silent(offchain(free_orchestrator(live_runners="false")))


def test_unsound_specs_are_flagged() -> None:
    # Remote work that nobody names yet.
    assert flagged(offchain(free_orchestrator(transcoding='"remote"')), CODE)
    # AI workers.
    assert "worker needs it" in flagged(offchain(model(), free_orchestrator(**AI), ai_worker()), CODE)


def test_ai_alone_lets_transcoders_in(snapshot: SnapshotAssertion) -> None:
    text = offchain(model(), free_orchestrator(**AI))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(offchain(model(), free_orchestrator(secret=SECRET, **AI)))


OUTSIDE = '"orch.example.org:8935"'


def test_no_secret(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(transcoder(orchestrator=OUTSIDE)), CODE) == snapshot
    assert flagged(offchain(model(), ai_worker(orchestrator=OUTSIDE)), CODE)


def test_neither_secret_nor_list(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(live_runners="true")), CODE) == snapshot
