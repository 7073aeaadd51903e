"""Gateways for video behind a signer."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, signer, silent

CODE = "signer-pays-live-ai-only"
GATE = {"wallet": None, "max_price": None, "remote_signer": '{ signer = "signer" }'}
LIST = '["orch.example.net:8935"]'
SIGNER = signer(http='"127.0.0.1:9000"')


def test_dual_gateway_behind_a_signer(snapshot: SnapshotAssertion) -> None:
    text = onchain(gateway(**GATE, mode='"dual"', orchestrators=LIST), SIGNER)
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_gateway_for_ai_is_what_signers_are_for() -> None:
    silent(onchain(gateway(**GATE, mode='"ai"', orchestrators=LIST), SIGNER))
    silent(onchain(gateway()))
