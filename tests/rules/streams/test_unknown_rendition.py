"""Renditions that the node does not know."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.upstream import RENDITIONS
from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, silent

CODE = "unknown-rendition"


def _gate(*names: str) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return offchain(free_orchestrator(), free_gateway(renditions=f"[{listed}]"))


def test_rendition_that_does_not_exist(snapshot: SnapshotAssertion) -> None:
    assert flagged(_gate("P360p30fps16x9", "P1080p30fps16x9"), CODE) == snapshot


def test_every_known_rendition_is_fine() -> None:
    assert len(RENDITIONS) == 13
    silent(_gate(*RENDITIONS))


def test_case_counts() -> None:
    assert 'did you mean "P360p30fps16x9"?' in flagged(_gate("p360p30fps16x9"), CODE)
