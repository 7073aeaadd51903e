"""Verifiers without anything to look at."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain

CODE = "verifier-incomplete"
VERIFIER = {"verifier_url": '"https://verifier.example.net"'}
ALL = {**VERIFIER, "verifier_path": '"/var/lib/verifier"', "object_store": '{ env = "STORE" }'}


def test_verifier_alone(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(), free_gateway(**VERIFIER)), CODE) == snapshot


def test_store_alone_is_not_enough() -> None:
    half = {**ALL, "verifier_path": None}
    assert "lacks verifier_path\n" in flagged(offchain(free_orchestrator(), free_gateway("gate", **half)), CODE)
