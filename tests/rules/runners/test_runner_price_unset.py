"""Runners that are sold without a price."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import SECRET, flagged, free_orchestrator, offchain, renting, runner, silent

CODE = "runner-price-unset"


def test_without_a_price_on_a_chain(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runner(price=None), rates=False), CODE) == snapshot


def test_with_a_price_or_without_a_chain_it_is_fine() -> None:
    silent(renting())
    silent(offchain(free_orchestrator(mode='"ai"', secret=SECRET, runners='["echo"]'), runner(price=None)))
