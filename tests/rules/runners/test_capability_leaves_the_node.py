"""Capabilities, which a later release of the node does not take."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.lower.test_capabilities import selling
from tests.rules.support import flagged


def test_warning_says_what_to_post_and_what_replaces_it(snapshot: SnapshotAssertion) -> None:
    assert flagged(selling(), "capability-leaves-the-node", Severity.WARNING) == snapshot
