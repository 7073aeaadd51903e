"""AI gateways that would ask the registry of video orchestrators."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, silent

CODE = "ai-gateway-without-discovery"


def test_ai_gateway(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(mode='"ai"')), CODE) == snapshot


def test_dual_gateway_is_a_warning() -> None:
    assert flagged(onchain(gateway(mode='"dual"')), CODE, Severity.WARNING)


def test_registry_is_fine() -> None:
    silent(onchain(gateway(mode='"ai"', discovery='"ai-registry"')))


def test_list_is_fine() -> None:
    silent(onchain(gateway(mode='"ai"', orchestrators='["orch.example.net:8935"]')))


def test_video_gateway_is_fine() -> None:
    silent(onchain(gateway()))
