"""Off-chain gateways that can find nobody."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, gateway, offchain, onchain, silent

CODE = "offchain-gateway-without-orchestrators"


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


def test_on_a_chain_there_is_a_registry() -> None:
    silent(onchain(gateway()))
