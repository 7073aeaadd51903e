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


def test_secret_is_fine() -> None:
    silent(offchain(free_orchestrator(host='"edge"', secret=SECRET), transcoder()))


def test_remote_work_that_nobody_names_yet() -> None:
    assert flagged(offchain(free_orchestrator(transcoding='"remote"')), CODE)


def test_ai_workers() -> None:
    assert "worker needs it" in flagged(offchain(model(), free_orchestrator(**AI), ai_worker()), CODE)


def test_local_transcoding_accepts_nobody() -> None:
    silent(offchain(free_orchestrator()))


def test_ai_alone_lets_transcoders_in(snapshot: SnapshotAssertion) -> None:
    text = offchain(model(), free_orchestrator(**AI))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(offchain(model(), free_orchestrator(secret=SECRET, **AI)))


OUTSIDE = '"orch.example.org:8935"'


def test_no_secret(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(transcoder(orchestrator=OUTSIDE)), CODE) == snapshot
    assert flagged(offchain(model(), ai_worker(orchestrator=OUTSIDE)), CODE)


def test_worker_with_a_secret_is_fine() -> None:
    silent(offchain(transcoder(orchestrator=OUTSIDE, secret=SECRET)))


def test_orchestrator_of_this_fleet_lends_its_own() -> None:
    silent(offchain(free_orchestrator(host='"edge"', secret=SECRET), transcoder()))


def test_neither_secret_nor_list(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(live_runners="true")), CODE) == snapshot


def test_either_is_fine() -> None:
    silent(offchain(free_orchestrator(live_runners="true", secret=SECRET)))
    silent(offchain(free_orchestrator(live_runners="true", live_runner_config='"/etc/runners.json"')))


def test_runners_switched_off_are_fine() -> None:
    silent(offchain(free_orchestrator(live_runners="false")))
