"""Wallets without a deposit or a reserve."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, gateway, offchain, onchain, orchestrator, printed, signer, silent, wallet

CODE = "gateway-funds-missing"


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


PAYER_OF_2 = gateway(wallet='"third"')


def test_no_reserve(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(wallet(reserve=None), PAYER_OF_2), CODE) == snapshot


def test_reserve_of_zero(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(wallet(reserve='"0 wei"'), PAYER_OF_2), CODE) == snapshot


def test_reserve_is_fine() -> None:
    assert printed(onchain(wallet(reserve='"1 gwei"'), PAYER_OF_2), CODE) == "no problems\n"


def test_orchestrators_and_offchain_gateways_need_none() -> None:
    silent(onchain(wallet(reserve=None), orchestrator(wallet='"third"')))
    assert printed(offchain(wallet(reserve=None), PAYER_OF_2), CODE) == "no problems\n"
