"""Gateways that stop routing because nothing is set aside for their tickets."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, gateway, offchain, onchain, orchestrator, printed, signer, silent, wallet

CODE = "gateway-deposit-missing"
PAYER = gateway(wallet='"third"')


def test_no_deposit(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(wallet(deposit=None), PAYER), CODE) == snapshot


def test_deposit_of_zero(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(wallet(deposit='"0 ETH"'), PAYER), CODE) == snapshot


def test_deposit_is_fine() -> None:
    assert printed(onchain(wallet(deposit='"1 wei"'), PAYER), CODE) == "no problems\n"


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


def test_offchain_nobody_pays() -> None:
    assert printed(offchain(wallet(deposit=None), PAYER), CODE) == "no problems\n"
