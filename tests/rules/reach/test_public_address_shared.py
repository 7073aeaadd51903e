"""Two hosts with one public address."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, host, offchain, silent

CODE = "public-address-shared"


def test_two_machines_with_one_name(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(), host("gpu-2", public='"orch.example.net"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(offchain(free_orchestrator(), host("gpu-2", public='"orch-2.example.net"')))
