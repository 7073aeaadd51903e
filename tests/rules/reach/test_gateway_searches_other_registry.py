"""Gateways and orchestrators in different registries."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, flagged, gateway, model, onchain, orchestrator, silent

CODE = "gateway-searches-other-registry"


def _fleet(discovery: str, gate: str, orch: str, **settings: str | None) -> str:
    models = None if orch == "video" else '[{ use = "realvis", warm = true }]'
    gpus = None if orch == "video" else "[0]"
    seller = orchestrator(mode=f'"{orch}"', models=models, gpus=gpus, secret=SECRET, max_sessions="4", **settings)
    buyer = gateway(mode=f'"{gate}"', discovery=f'"{discovery}"', max_price='"any"')
    return onchain(*([] if orch == "video" else [model()]), buyer, seller)


def test_an_ai_gateway_and_a_dual_orchestrator(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet("ai-registry", "ai", "dual"), CODE, Severity.WARNING) == snapshot
    silent(_fleet("ai-registry", "ai", "dual", ai_registry="true"))
    silent(_fleet("ai-registry", "ai", "ai"))


def test_the_other_way_round() -> None:
    found = flagged(_fleet("registry", "dual", "ai"), CODE, Severity.WARNING)
    assert "searches the main registry" in found
    assert 'write ai_registry = false for the orchestrators, discovery = "ai-registry" for the gateway' in found
    silent(_fleet("registry", "dual", "dual"))


def test_an_ai_gateway_searches_the_ai_registry_whatever_it_says() -> None:
    found = flagged(_fleet("registry", "ai", "dual"), CODE, Severity.WARNING)
    assert "for the gateway" not in found


def test_one_kind_of_work_that_is_found_is_enough() -> None:
    silent(_fleet("registry", "dual", "video"))
