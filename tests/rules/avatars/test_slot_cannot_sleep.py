"""Compose projects that power calls may not touch."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "slot-cannot-sleep"


def test_other_prefix(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(power_project_prefixes='["stage-"]')), CODE, Severity.WARNING) == snapshot


def test_prefixes_that_cover_all_slots_are_fine() -> None:
    silent(staged(avatars(power_project_prefixes='["vtuber-mira", "vtuber-noor"]')))
