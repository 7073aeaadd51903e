"""Weights that do not add up, and an exponent that divides by zero."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_gateway, free_orchestrator, gateway, offchain, onchain, silent

CODE = "selection-weights"


def _weights(text: str) -> str:
    return onchain(gateway(selection=f"{{ {text} }}"))


def test_weights_beyond_one(snapshot: SnapshotAssertion) -> None:
    assert flagged(_weights('price = "0.5"'), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(_weights('price = "0.5", random = "0.2", stake = "0.3"'))
    silent(_weights('random = "0.2", stake = "0.8"'))
    silent(_weights('price = "0.00005"'))
    silent(_weights('timeout = "2s"'))
    # Offchain weights have no meaning.
    silent(offchain(free_orchestrator(), free_gateway(selection='{ price = "0.5" }')))


def test_all_three_given_and_wrong() -> None:
    found = flagged(_weights('price = "0.5", random = "0.3", stake = "0.3"'), CODE)
    assert "add up to 1.1, not to 1: random 0.3 + stake 0.3 + price 0.5" in found
    assert "so that they add up to 1" in found


def test_proposed_weight_repairs_it() -> None:
    assert 'write stake = "0.5"' in flagged(_weights('random = "0.5"'), CODE)
    silent(_weights('random = "0.5", stake = "0.5"'))


def test_exponent_of_zero(snapshot: SnapshotAssertion) -> None:
    assert flagged(_weights('price_exponent = "0"'), CODE) == snapshot
    silent(_weights('price_exponent = "0.5"'))
