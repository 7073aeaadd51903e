"""A duty of a node that is out of service: the cases are in `tests/rules/test_out_of_service.py`."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, onchain, orchestrator


def test_nobody_calls_reward(snapshot: SnapshotAssertion) -> None:
    text = onchain(orchestrator(out='{ until = 2027-01-31, reason = "new power supply" }'))
    assert flagged(text, "duty-of-node-out", Severity.WARNING) == snapshot
