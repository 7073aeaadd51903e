"""Prices and caps in fleets that pay nobody."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, model, offchain, silent

CODE = "price-ignored-offchain"


def test_price_and_cap(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(price='"1 wei / pixel"'), free_gateway(max_price='"1 wei / pixel"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_no_prices_are_fine() -> None:
    silent(offchain(free_orchestrator(), free_gateway()))


def test_price_of_a_shared_model_is_fine() -> None:
    silent(offchain(model(), free_orchestrator(), free_gateway()))


def test_gas_price_without_a_chain() -> None:
    text = offchain(free_orchestrator(), free_gateway(), gas_price='"0.1 gwei"')
    assert "remove gas_price" in flagged(text, CODE, Severity.WARNING)
