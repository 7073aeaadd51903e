"""Gateways that would pay any price."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, gateway, model, offchain, onchain, silent

CODE = "gateway-price-unset"


def test_no_cap(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(max_price=None)), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(onchain(gateway(max_price='"1500 wei / pixel"')))
    silent(onchain(gateway(max_price='"any"')))
    # Offchain nobody pays.
    silent(offchain(free_orchestrator(), free_gateway()))


def test_caps_of_models_leave_the_rest_open() -> None:
    caps = '{ realvis = "5000 wei / pixel" }'
    text = onchain(model(), gateway(mode='"ai"', discovery='"ai-registry"', max_price=None, max_model_prices=caps))
    assert "anything except the models" in flagged(text, CODE)
