"""Variables for WHIP and WHEP that stop a gateway."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, silent

CODE = "media-variable-invalid"


def _with(variables: str) -> str:
    return offchain(free_gateway(environment=variables), free_orchestrator())


def test_address_without_port(snapshot: SnapshotAssertion) -> None:
    assert flagged(_with('{ LIVE_AI_WHIP_ADDR = "0.0.0.0" }'), CODE) == snapshot


@pytest.mark.parametrize("text", ["0", "-1", "five", "1.5", " 5"])
def test_limit_that_is_no_positive_number(text: str) -> None:
    assert "unlimited" in flagged(_with(f'{{ LIVE_AI_WHEP_MAX_SESSIONS = "{text}" }}'), CODE)


@pytest.mark.parametrize(
    "variables",
    [
        '{ LIVE_AI_WHIP_ADDR = ":7280", LIVE_AI_WHEP_ADDR = "203.0.113.10:7281" }',
        '{ LIVE_AI_WHEP_MAX_SESSIONS = "unlimited" }',
        '{ LIVE_AI_WHEP_MAX_SESSIONS = "12" }',
        '{ LIVE_AI_WHIP_ADDR = "[::1]:7280" }',
    ],
)
def test_what_the_node_takes_is_fine(variables: str) -> None:
    silent(_with(variables))


@pytest.mark.parametrize("text", ["7280", ":0", ":70000", "host:", "http://host:7280"])
def test_what_is_no_listener(text: str) -> None:
    flagged(_with(f'{{ LIVE_AI_WHEP_ADDR = "{text}" }}'), CODE)
