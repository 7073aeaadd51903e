"""Gateways whose node switches HTTP ingest off."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, silent

CODE = "http-ingest-switched-off"
AI = {"mode": '"ai"', "discovery": '"ai-registry"'}
PUBLIC = '"0.0.0.0:8935"'


def test_ai_endpoints_vanish(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(http=PUBLIC, **AI)), CODE) == snapshot


def rest(text: str) -> None:
    """AI endpoints are there, and another rule warns that nothing admits their requests."""
    assert CODE not in flagged(text, "gateway-pays-for-strangers", Severity.WARNING)


def test_said_aloud_it_is_fine() -> None:
    rest(onchain(gateway(http=PUBLIC, http_ingest="true", **AI)))


def test_webhook_that_admits_streams_is_fine() -> None:
    rest(onchain(gateway(http=PUBLIC, auth_webhook='"https://hook.example.net/auth"', **AI)))


def test_loopback_is_fine() -> None:
    silent(onchain(gateway(**AI)))


def test_video_still_comes_over_rtmp() -> None:
    assert "RTMP stays" in flagged(onchain(gateway(http=PUBLIC)), CODE, Severity.WARNING)
    silent(onchain(gateway(http=PUBLIC, http_ingest="false")))


def test_ingest_that_the_spec_switches_off(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(http_ingest="false", **AI)), CODE) == snapshot
