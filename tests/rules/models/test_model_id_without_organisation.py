"""Model ids that are not complete."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, model, offchain, printed, silent

CODE = "model-id-without-organisation"


def test_bare_name(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(model(id='"RealVisXL_V4.0_Lightning"')), CODE) == snapshot


def test_full_id_is_fine() -> None:
    silent(offchain(model(id='"SG161222/RealVisXL_V4.0_Lightning"')))


@pytest.mark.parametrize("text", ["/name", "org/", "/"])
def test_half_an_id(text: str) -> None:
    assert flagged(offchain(model(id=f'"{text}"')), CODE)


def test_live_models_are_applications() -> None:
    silent(offchain(model(pipeline='"live-video-to-video"', id='"noop"')))


def test_local_tag_is_reported_once() -> None:
    assert printed(offchain(model(id='"llama3.1:8b"')), CODE) == "no problems\n"
