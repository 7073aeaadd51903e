"""The one model that a serverless worker hands on."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, model, offchain, silent

CODE = "serverless-worker-entry"
SCOPE = model("scope", pipeline='"live-video-to-video"', id='"scope"')
ORCH = free_orchestrator(mode='"dual"', host='"edge"', secret=SECRET, models='[{ use = "scope" }]')
GOOD = '[{ use = "scope", url = "wss://provider.example.net/ws", capacity = 4 }]'


def _worker(models: str) -> str:
    return offchain(SCOPE, model(), ORCH, ai_worker(serverless="true", models=models))


def test_another_model(snapshot: SnapshotAssertion) -> None:
    assert flagged(_worker(GOOD.replace("scope", "realvis")), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(_worker(GOOD))
    # Other workers may have any models.
    silent(offchain(SCOPE, model(), ORCH, ai_worker()))


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (GOOD[:-1] + ", " + GOOD[1:], "has 2 models"),
        ('[{ use = "scope", capacity = 4 }]', "no provider address"),
        ('[{ use = "scope", url = "wss://provider.example.net/ws" }]', "no capacity"),
    ],
)
def test_entries_that_the_node_refuses(models: str, message: str) -> None:
    assert message in flagged(_worker(models), CODE)
