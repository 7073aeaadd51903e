"""Prices of models for single gateways where the node runs the models itself."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, ai_worker, flagged, gateway, model, onchain, orchestrator, silent

CODE = "model-gateway-price-on-worker"
SPECIAL = '[{ use = "realvis", gateway_prices = { gate = "3000 wei / pixel" } }]'
GATE = gateway(mode='"ai"', discovery='"ai-registry"', max_price='"9000 wei / pixel"')


def test_orchestrator_that_runs_the_model(snapshot: SnapshotAssertion) -> None:
    orch = orchestrator(mode='"ai"', models=SPECIAL, gpus="[0]", secret=SECRET)
    assert flagged(onchain(GATE, orch, model()), CODE) == snapshot


def test_remote_workers_run_it() -> None:
    orch = orchestrator(mode='"ai"', models=SPECIAL, secret=SECRET)
    silent(onchain(GATE, orch, ai_worker(), model()))


def test_worker_has_no_prices() -> None:
    orch = orchestrator(mode='"ai"', models='[{ use = "realvis" }]', secret=SECRET)
    assert "in the orchestrator" in flagged(onchain(GATE, orch, ai_worker(models=SPECIAL), model()), CODE)
