"""RTMP of gateways that serve AI only."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, model, offchain, silent

CODE = "rtmp-on-ai-gateway"


def _fleet(**gate: str | None) -> str:
    orch = free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]', gpus="[0]", max_sessions="4")
    return offchain(model(), orch, free_gateway(http='"127.0.0.1:8935"', **gate))


def test_video_can_come_in(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet(mode='"ai"', rtmp='"0.0.0.0:1935"'), CODE, Severity.WARNING) == snapshot


def test_a_port_on_loopback_is_fine() -> None:
    silent(_fleet(mode='"ai"', rtmp='"127.0.0.1:2935"'))
    silent(_fleet(mode='"dual"', rtmp='"0.0.0.0:1935"'))
