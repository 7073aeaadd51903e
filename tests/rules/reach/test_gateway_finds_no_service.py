"""Lists of orchestrators that sell something else."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, flagged, free_gateway, free_orchestrator, model, offchain, silent

CODE = "gateway-finds-no-service"
AI = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "secret": SECRET}


def test_ai_gateway_with_video_orchestrators(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(), free_gateway(mode='"ai"')), CODE) == snapshot


def test_one_that_serves_it_is_enough() -> None:
    silent(offchain(model(), free_orchestrator(**AI), free_gateway(mode='"ai"')))


def test_video_gateway_with_ai_orchestrators() -> None:
    assert "serves video" in flagged(offchain(model(), free_orchestrator(**AI), free_gateway()), CODE)


def test_dual_gateway_needs_both() -> None:
    assert "serves AI" in flagged(offchain(free_orchestrator(), free_gateway(mode='"dual"')), CODE)
    pair = [free_orchestrator(), free_orchestrator("ai", **AI, service='"orch.example.net:9000"', cli='"127.0.0.1:1"')]
    silent(offchain(model(), *pair, free_gateway(mode='"dual"', orchestrators='["orch", "ai"]')))


def test_orchestrators_outside_may_serve_it() -> None:
    listed = '["orch", "other.example.net:8935"]'
    silent(offchain(free_orchestrator(), free_gateway(mode='"ai"', orchestrators=listed)))
