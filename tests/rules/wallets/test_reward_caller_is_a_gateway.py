"""Gateways that call reward in an orchestrator's place."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, orchestrator, silent

CODE = "reward-caller-is-a-gateway"


def _caller(name: str, *tables: str) -> str:
    text = onchain(gateway(wallet='"earner"'), *tables)
    more = f'reward_by = "{name}"\ndeposit = "0.5 ETH"\nreserve = "0.3 ETH"'
    return text.replace("[wallets.earner]", f"[wallets.earner]\n{more}")


def test_gateway_although_an_orchestrator_could(snapshot: SnapshotAssertion) -> None:
    assert flagged(_caller("gate", orchestrator()), CODE, Severity.WARNING) == snapshot


def test_orchestrator_is_fine() -> None:
    silent(_caller("orch", orchestrator()))


def test_gateway_alone_is_fine() -> None:
    silent(_caller("gate"))
