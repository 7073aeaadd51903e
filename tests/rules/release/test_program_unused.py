"""Programs that no node runs."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, offchain, program, silent

CODE = "program-unused"


def test_release_that_no_host_runs(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(), program("v0.9.0", "1"), program("v0.9.1", "2"))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_program_of_the_release_is_used() -> None:
    silent(offchain(free_orchestrator(), program("v0.9.1", "2")))


def test_build_that_no_host_runs(snapshot: SnapshotAssertion) -> None:
    build = f'[programs."v0.9.1".builds.gpu]\nfile = "/srv/livepeer"\nsha256 = "{"3" * 64}"'
    text = offchain(free_orchestrator(), program("v0.9.1", "2", build))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_containers_need_none() -> None:
    text = offchain(free_orchestrator(host='"edge"'), program("v0.9.1", "2"))
    assert flagged(text, CODE, Severity.WARNING)
