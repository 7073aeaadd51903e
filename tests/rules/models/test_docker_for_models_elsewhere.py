"""Nodes that need Docker for nothing."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, ai_worker, flagged, free_orchestrator, host, model, offchain, silent

CODE = "docker-for-models-elsewhere"
ELSEWHERE = '[{ use = "realvis", url = "http://203.0.113.50:8000" }]'
BOX = host("box", runtime='"systemd"', public='"box.example.net"')


def _selling(models: str = ELSEWHERE, box: str = BOX) -> str:
    orch = free_orchestrator(host='"box"', mode='"ai"', models=models, secret=SECRET, service=None)
    return offchain(box, orch, model())


def test_models_that_are_all_somewhere_else(snapshot: SnapshotAssertion) -> None:
    assert flagged(_selling(), CODE, Severity.WARNING) == snapshot


@pytest.mark.parametrize(
    "text",
    [
        _selling('[{ use = "realvis" }]'),
        _selling(box=host("box", runtime='"docker"', public='"box.example.net"')),
    ],
)
def test_containers_of_its_own_or_a_host_with_docker(text: str) -> None:
    silent(text)


def test_worker_needs_it_and_its_orchestrator_does_not() -> None:
    orch = free_orchestrator(host='"box"', mode='"ai"', models='[{ use = "realvis" }]', secret=SECRET, service=None)
    assert "worker starts no container" in flagged(
        offchain(BOX, orch, ai_worker(host='"box"', models=ELSEWHERE, secret=SECRET), model()), CODE, Severity.WARNING
    )
