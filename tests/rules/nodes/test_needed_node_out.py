"""What is out of service has no substitute: the cases are in `tests/rules/test_out_of_service.py`."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain


def test_last_seller(snapshot: SnapshotAssertion) -> None:
    out = '{ until = 2027-01-31, reason = "new power supply" }'
    assert flagged(offchain(free_orchestrator(out=out), free_gateway()), "needed-node-out") == snapshot
