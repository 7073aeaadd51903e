"""Pipelines that do not exist."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, model, offchain

CODE = "unknown-pipeline"


def test_misspelt_pipeline(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(model(pipeline='"txt-to-image"')), CODE) == snapshot


@pytest.mark.parametrize("text", ["Text-To-Image", "text_to_image", "Text to image"])
def test_exact_spelling_is_proposed(text: str) -> None:
    assert 'did you mean "text-to-image"?' in flagged(offchain(model(pipeline=f'"{text}"')), CODE)
