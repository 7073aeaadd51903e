"""Builds that a release does not have."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, offchain, program, silent

CODE = "program-build-unknown"

BUILD = f'[programs."v0.9.1".builds.gpu]\nfile = "/srv/livepeer"\nsha256 = "{"3" * 64}"'


def spec(build: str, *tables: str) -> str:
    text = offchain(free_orchestrator(), *tables)
    return text.replace('runtime = "systemd"', f'runtime = "systemd"\nbuild = "{build}"')


def test_build_that_is_misspelled(snapshot: SnapshotAssertion) -> None:
    assert flagged(spec("gpus", program("v0.9.1", "1", BUILD)), CODE, Severity.ERROR) == snapshot


def test_release_without_any_program(snapshot: SnapshotAssertion) -> None:
    assert flagged(spec("gpu"), CODE, Severity.ERROR) == snapshot


def test_build_of_the_release() -> None:
    silent(spec("gpu", program("v0.9.1", "1", BUILD)))
