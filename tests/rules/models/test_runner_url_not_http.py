"""Runners managed elsewhere whose address the node cannot call."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import has_errors
from tests.rules.support import SECRET, ai_worker, checked, flagged, free_orchestrator, model, offchain, printed, silent

CODE = "runner-url-not-http"
ORCH = free_orchestrator(mode='"ai"', models='[{ use = "realvis" }]', secret=SECRET)


def _at(url: str) -> str:
    return offchain(ORCH, ai_worker(models=f'[{{ use = "realvis", url = "{url}" }}]'), model())


def test_web_socket(snapshot: SnapshotAssertion) -> None:
    assert flagged(_at("wss://203.0.113.50:8000"), CODE) == snapshot


def test_http_is_fine_with_a_port_and_without() -> None:
    for url in ("https://203.0.113.50:8000", "https://runner.example.net"):
        assert not has_errors(checked(_at(url)).diagnostics)


def test_address_without_scheme_is_refused() -> None:
    assert "write the whole URL" in printed(_at("203.0.113.50:8000"), "invalid-value")


def test_serverless_worker_speaks_to_its_provider_over_a_web_socket() -> None:
    scope = model("scope", pipeline='"live-video-to-video"', id='"scope"')
    models = '[{ use = "scope", url = "wss://provider.example.net/ws", capacity = 4 }]'
    orch = free_orchestrator(mode='"ai"', models='[{ use = "scope" }]', secret=SECRET)
    silent(offchain(orch, ai_worker(gpus=None, models=models, serverless="true"), scope))
