"""Tickets that are worth nothing."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, gateway, onchain, orchestrator, silent

CODE = "ticket-value-zero"


def test_no_ticket_can_be_made(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(), orchestrator(ticket_ev='"0 wei"')), CODE) == snapshot


def test_the_default_and_one_gwei_are_fine() -> None:
    silent(onchain(gateway(), orchestrator()))
    silent(onchain(gateway(), orchestrator(ticket_ev='"1 gwei"')))
