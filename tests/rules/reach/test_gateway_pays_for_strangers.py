"""Gateways whose deposit anybody can spend."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, gateway, offchain, onchain, silent

CODE = "gateway-pays-for-strangers"
AI = {"mode": '"ai"', "discovery": '"ai-registry"'}
OPEN = {"http": '"0.0.0.0:1937"', "http_ingest": "true"}
HOOK = '"https://hook.example.net/auth"'


def test_open_gateway_names_each_port_and_its_help_removes_the_message(snapshot: SnapshotAssertion) -> None:
    found = flagged(onchain(gateway(rtmp='"0.0.0.0:1936"', **OPEN)), CODE, Severity.WARNING)
    assert found == snapshot
    advice = 'write http = "127.0.0.1:1937" and rtmp = "127.0.0.1:1936" and put a proxy in front'
    assert advice in found
    silent(onchain(gateway(http='"127.0.0.1:1937"', http_ingest="true", rtmp='"127.0.0.1:1936"')))


@pytest.mark.parametrize(
    ("settings", "ports"),
    [
        ({"rtmp": '"[::]:1936"'}, ":::1936 (RTMP)"),  # nothing admits streams
        (AI | OPEN | {"auth_webhook": HOOK}, "0.0.0.0:1937 (HTTP)"),  # a webhook admits streams, not requests
        (AI | OPEN | {"live": f"{{ auth_webhook = {HOOK} }}"}, "0.0.0.0:1937 (HTTP)"),
        (AI | {"environment": '{ LIVE_AI_WHIP_ADDR = ":7280" }'}, "0.0.0.0:7280 (WHIP)"),
    ],
)
def test_siblings_of_the_open_gateway(settings: dict[str, str], ports: str) -> None:
    assert ports in flagged(onchain(gateway(**settings)), CODE, Severity.WARNING)


@pytest.mark.parametrize(
    "text",
    [
        onchain(gateway(**OPEN, rtmp='"0.0.0.0:1936"', auth_webhook=HOOK)),
        onchain(gateway(**OPEN | {"http": '"10.0.0.7:1937"'})),
        offchain(free_gateway(**OPEN), free_orchestrator()),
    ],
    ids=["a webhook admits streams", "a private network", "nobody pays off-chain"],
)
def test_nothing_to_say(text: str) -> None:
    silent(text)
