"""Gateways that find no orchestrators."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, gateway, offchain, onchain, silent

CODE = "gateway-without-orchestrators"


def test_nobody_to_find(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(), free_gateway(orchestrators=None)), CODE) == snapshot


def test_list_is_fine() -> None:
    silent(offchain(free_orchestrator(), free_gateway()))


def test_registry_does_not_exist(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_gateway(orchestrators=None, discovery='"registry"'))
    assert flagged(text, CODE) == snapshot


@pytest.mark.parametrize("mode", ["video", "ai", "dual"])
def test_every_mode_needs_somebody(mode: str) -> None:
    assert flagged(offchain(free_gateway(orchestrators=None, mode=f'"{mode}"')), CODE)


def test_webhook_is_fine() -> None:
    silent(offchain(free_gateway(orchestrators=None, discovery='{ webhook = { env = "HOOK" } }')))


def test_ai_gateway(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(mode='"ai"')), CODE) == snapshot


def test_dual_gateway_is_a_warning() -> None:
    assert flagged(onchain(gateway(mode='"dual"')), CODE, Severity.WARNING)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"mode": '"ai"', "discovery": '"ai-registry"'},
        {"mode": '"ai"', "orchestrators": '["orch.example.net:8935"]'},
    ],
)
def test_gateway_on_a_chain_that_finds_some(settings: dict[str, str]) -> None:
    silent(onchain(gateway(**settings)))
