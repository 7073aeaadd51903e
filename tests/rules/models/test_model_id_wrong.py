"""Ids of models that the network does not know."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, model, offchain, printed, silent

CODE = "model-id-wrong"


def _fleet(**settings: str | None) -> str:
    return offchain(model(**settings), free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]', gpus="[0]",
                                                         max_sessions="4"))  # fmt: skip


def test_lower_case(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet(id='"sg161222/realvisxl_v4.0_lightning"'), CODE, Severity.WARNING) == snapshot
    silent(_fleet())


def test_an_id_that_is_not_known_is_as_good() -> None:
    silent(_fleet(id='"Somebody/Something-XL"'))


def test_two_models_that_differ_only_in_case() -> None:
    two = _fleet(id='"Somebody/Something-XL"') + model("other", id='"somebody/something-xl"')
    assert '"somebody/something-xl" in different case' in flagged(two, CODE, Severity.WARNING)


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
    assert printed(offchain(model(id='"llama3.1:8b"')), CODE).count(f"[{CODE}]") == 1


def test_tag(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(model(pipeline='"llm"', id='"llama3.1:8b"')), CODE) == snapshot


def test_organisation_does_not_make_a_tag_an_id() -> None:
    assert flagged(offchain(model(pipeline='"llm"', id='"library/llama3.1:8b"')), CODE)
