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


def test_sound_specs_are_silent() -> None:
    # An ID that is not known is as good.
    silent(_fleet(id='"Somebody/Something-XL"'))
    silent(offchain(model(id='"SG161222/RealVisXL_V4.0_Lightning"')))
    # Live models are applications.
    silent(offchain(model(pipeline='"live-video-to-video"', id='"noop"')))


def test_unsound_specs_are_flagged() -> None:
    # Two models that differ only in case.
    two = _fleet(id='"Somebody/Something-XL"') + model("other", id='"somebody/something-xl"')
    assert '"somebody/something-xl" in different case' in flagged(two, CODE, Severity.WARNING)
    # Organisation does not make a tag an ID.
    assert flagged(offchain(model(pipeline='"llm"', id='"library/llama3.1:8b"')), CODE)


def test_bare_name(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(model(id='"RealVisXL_V4.0_Lightning"')), CODE) == snapshot


@pytest.mark.parametrize("text", ["/name", "org/", "/"])
def test_half_an_id(text: str) -> None:
    assert flagged(offchain(model(id=f'"{text}"')), CODE)


def test_local_tag_is_reported_once() -> None:
    assert printed(offchain(model(id='"llama3.1:8b"')), CODE).count(f"[{CODE}]") == 1


def test_tag(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(model(pipeline='"llm"', id='"llama3.1:8b"')), CODE) == snapshot
