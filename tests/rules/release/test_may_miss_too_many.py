"""How many hosts a rollout may leave behind: no more than a batch has, whatever form the number has."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, offchain, silent

CODE = "may-miss-too-many"


def spec(settings: str) -> str:
    return offchain(free_orchestrator(), f"[rollout]\n{settings}\n")


def test_more_than_a_batch(snapshot: SnapshotAssertion) -> None:
    assert flagged(spec("batch = 1\nmay_miss = 2"), CODE, Severity.ERROR) == snapshot


def test_more_than_a_batch_that_is_a_share(snapshot: SnapshotAssertion) -> None:
    assert flagged(spec('may_miss = "100%"'), CODE, Severity.ERROR) == snapshot


def test_more_than_the_fleet(snapshot: SnapshotAssertion) -> None:
    assert flagged(spec("batch = 9\nmay_miss = 3"), CODE, Severity.ERROR) == snapshot


@pytest.mark.parametrize("value", ["-1", '"some"', '"0%"', '"101%"', "true", "1.5"])
def test_nonsense(value: str, snapshot: SnapshotAssertion) -> None:
    assert flagged(spec(f"may_miss = {value}"), "invalid-value", Severity.ERROR) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(spec("may_miss = 1"))
    silent(spec('batch = 2\nmay_miss = "100%"'))
    silent(spec('may_miss = "5%"'))  # none of two hosts
