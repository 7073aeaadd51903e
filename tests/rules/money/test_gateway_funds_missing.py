"""Wallets without a deposit or a reserve."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, gateway, offchain, onchain, orchestrator, printed, signer, silent, wallet

CODE = "gateway-funds-missing"
PAYER = gateway(wallet='"third"')


@pytest.mark.parametrize("part", ["deposit", "reserve"])
def test_wallet_without_a_part_of_its_funds(part: str, snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(wallet(**{part: None}), PAYER), CODE) == snapshot
    assert f"a {part} of zero" in flagged(onchain(wallet(**{part: '"0 ETH"'}), PAYER), CODE)
    assert printed(onchain(wallet(**{part: '"1 wei"'}), PAYER), CODE) == "no problems\n"
    assert printed(offchain(wallet(**{part: None}), PAYER), CODE) == "no problems\n"


def test_wallet_of_an_orchestrator_needs_none() -> None:
    silent(onchain(wallet(deposit=None, reserve=None), orchestrator(wallet='"third"')))


def test_wallet_that_several_gateways_share_is_reported_once() -> None:
    other = gateway("other", wallet='"third"', host='"gpu"')
    text = onchain(wallet(deposit=None, reward_by='"none"'), PAYER, other)
    assert flagged(text, CODE).count("error[") == 1


def test_remote_signer_pays_in_the_place_of_its_gateways() -> None:
    elsewhere = gateway(wallet=None) + 'remote_signer = { url = "https://signer.example.net" }\n'
    assert printed(onchain(elsewhere), CODE) == "no problems\n"
    assert "signer pays from it" in flagged(onchain(wallet(deposit=None), signer(wallet='"third"')), CODE)
