"""Performance scores that no node reads."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, silent

CODE = "performance-score-unused"


FEED = 'performance_url = "https://scores.example.net/stats"'


def _fleet(*settings: str) -> str:
    return offchain(free_orchestrator(), free_gateway(selection=f"{{ {', '.join(settings)} }}"))


def test_a_bound_without_a_feed(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet('min_performance = "0.8"'), CODE, Severity.WARNING) == snapshot


def test_a_feed_without_a_region() -> None:
    assert "performance_region is missing" in flagged(_fleet('min_performance = "0.8"', FEED), CODE, Severity.WARNING)
    silent(_fleet('min_performance = "0.8"', FEED, 'performance_region = "FRA"'))
