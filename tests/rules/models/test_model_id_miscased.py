"""Ids of known models in another case."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_orchestrator, model, offchain, silent

CODE = "model-id-miscased"


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
