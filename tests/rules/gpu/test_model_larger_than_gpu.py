"""A model on demand that no GPU of its node can load."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, printed

CODE = "model-larger-than-gpu"


def _worker(memory: str | None = '"32 GiB"', models: str = '[{ use = "big" }]', **settings: str | None) -> str:
    offered = '[{ use = "big" }]'
    orch = free_orchestrator(mode='"dual"', transcoding='"local"', host='"edge"', secret=SECRET, models=offered)
    return offchain(model("big", id='"org/big"', memory=memory), orch, ai_worker(models=models, **settings))


def test_cold_model_that_is_too_large(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worker(), CODE, Severity.WARNING) == snapshot


@pytest.mark.parametrize(
    ("memory", "models"),
    [
        ('"24 GiB"', '[{ use = "big" }]'),
        (None, '[{ use = "big" }]'),
        ('"32 GiB"', '[{ use = "big", warm = true }]'),
        ('"32 GiB"', '[{ use = "big", url = "http://203.0.113.50:8000" }]'),
    ],
)
def test_what_fits_is_unknown_or_told_elsewhere_is_fine(memory: str | None, models: str) -> None:
    assert CODE not in printed(_worker(memory, models), CODE)
