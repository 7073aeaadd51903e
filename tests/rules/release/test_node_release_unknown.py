"""Releases of the node that are newer than what is known."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, silent

CODE = "node-release-unknown"


def test_release_of_which_something_is_known(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_gateway(), free_orchestrator(), node_release='"v0.9.2"')
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_release_of_one_node_beside_that_of_the_fleet(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_gateway(node_release='"v1.2.3"'), free_orchestrator(), node_release='"v0.10.0"')
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_newest_known_release() -> None:
    silent(offchain(free_gateway(), free_orchestrator()))
