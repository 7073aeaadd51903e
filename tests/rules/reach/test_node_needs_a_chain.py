"""Helpers for payments in a fleet without a chain."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, offchain, onchain, redeemer, reward_caller, signer, silent

CODE = "node-needs-a-chain"


def test_signer_off_chain(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(signer(wallet=None)), CODE) == snapshot


@pytest.mark.parametrize("node", [redeemer(wallet=None), reward_caller(wallet=None)])
def test_other_helpers_off_chain(node: str) -> None:
    flagged(offchain(node), CODE)


@pytest.mark.parametrize("node", [signer(), redeemer(), reward_caller()])
def test_helpers_on_a_chain_are_fine(node: str) -> None:
    silent(onchain(node))
