"""Live AI video that does not get through beside runners."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, model, printed, renting

CODE = "live-ai-beside-runners"


LIVE = model("live", pipeline='"live-video-to-video"', id='"streamdiffusion"')


def test_both_in_one_node(snapshot: SnapshotAssertion) -> None:
    text = renting(models='[{ use = "live" }]', tables=(LIVE,))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_other_models_are_fine() -> None:
    assert CODE not in printed(renting(models='[{ use = "realvis" }]', tables=(model(),)))
