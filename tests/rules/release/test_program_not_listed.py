"""Releases and builds without a program."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, offchain, program, silent

CODE = "program-not-listed"


def test_node_of_another_release(snapshot: SnapshotAssertion) -> None:
    other = free_orchestrator("other", node_release='"v0.9.0"')
    text = offchain(free_orchestrator(), other, program("v0.9.1", "1"))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    # Both releases have one.
    other = free_orchestrator("other", node_release='"v0.9.0"', http='"0.0.0.0:8936"', cli='"127.0.0.1:7936"')
    silent(offchain(free_orchestrator(), other, program("v0.9.1", "1"), program("v0.9.0", "2")))
    # Fleet whose programs people install.
    silent(offchain(free_orchestrator()))
    # Build of the release.
    silent(spec("gpu", program("v0.9.1", "1", BUILD)))


BUILD = f'[programs."v0.9.1".builds.gpu]\nfile = "/srv/livepeer"\nsha256 = "{"3" * 64}"'


def spec(build: str, *tables: str) -> str:
    text = offchain(free_orchestrator(), *tables)
    return text.replace('runtime = "systemd"', f'runtime = "systemd"\nbuild = "{build}"')


def test_build_that_is_misspelled(snapshot: SnapshotAssertion) -> None:
    assert flagged(spec("gpus", program("v0.9.1", "1", BUILD)), CODE, Severity.ERROR) == snapshot


def test_release_without_any_program(snapshot: SnapshotAssertion) -> None:
    assert flagged(spec("gpu"), CODE, Severity.ERROR) == snapshot
