"""Tags of local runtimes in the place of model ids."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, model, offchain, silent

CODE = "model-id-is-a-local-tag"


def test_tag(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(model(pipeline='"llm"', id='"llama3.1:8b"')), CODE) == snapshot


def test_full_id_is_fine() -> None:
    silent(offchain(model(pipeline='"llm"', id='"meta-llama/Meta-Llama-3.1-8B-Instruct"')))


def test_organisation_does_not_make_a_tag_an_id() -> None:
    assert flagged(offchain(model(pipeline='"llm"', id='"library/llama3.1:8b"')), CODE)
