"""Wallets whose reward caller is missing, idle or a gateway."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    flagged,
    gateway,
    offchain,
    onchain,
    orchestrator,
    printed,
    redeemer,
    reward_caller,
    signer,
    silent,
    wallet,
)

CODE = "reward-caller-wrong"


SECOND = orchestrator("second", host='"edge"')


def _caller(name: str) -> str:
    return onchain(orchestrator(), SECOND).replace("[wallets.earner]", f'[wallets.earner]\nreward_by = "{name}"')


def test_two_orchestrators_without_a_caller(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(), SECOND), CODE) == snapshot


def test_named_caller_is_fine() -> None:
    assert printed(_caller("orch"), CODE) == "no problems\n"


def test_nobody_stated_explicitly_is_fine() -> None:
    assert printed(_caller("none"), CODE) == "no problems\n"


def test_single_holder_decides_itself() -> None:
    silent(onchain(orchestrator(), gateway()))


def test_gateways_alone_have_nobody_to_name() -> None:
    pair = [gateway(), gateway("gate-2", host='"gpu"')]
    assert 'write reward_by = "none" in wallets.payer\n' in flagged(onchain(*pair), CODE)


def test_gateway_and_orchestrator_propose_the_orchestrator() -> None:
    assert 'reward_by = "orch"' in flagged(onchain(gateway(wallet='"earner"'), orchestrator()), CODE)


def test_offchain_nobody_calls_reward() -> None:
    pair = [orchestrator(wallet='"w"', price=None), orchestrator("second", host='"edge"', wallet='"w"', price=None)]
    assert printed(offchain(wallet("w"), *pair), CODE) == "no problems\n"


def test_process_that_does_nothing_else_is_proposed_first() -> None:
    assert 'reward_by = "caller"' in flagged(onchain(orchestrator(), reward_caller()), CODE)


def test_every_node_with_the_wallet_counts() -> None:
    text = onchain(wallet(reward_by=None), signer(wallet='"third"'), redeemer(wallet='"third"', host='"gpu"'))
    assert "2 nodes share wallet third" in flagged(text, CODE)


def _named(caller: str, **settings: str | None) -> str:
    return onchain(
        wallet(reward_by=f'"{caller}"'),
        orchestrator(wallet='"third"', cli='"127.0.0.1:7935"'),
        reward_caller(wallet='"third"', **settings),
    )


def test_another_node_calls_reward(snapshot: SnapshotAssertion) -> None:
    assert flagged(_named("orch"), CODE) == snapshot


def test_caller_that_its_wallet_names_is_fine() -> None:
    silent(_named("caller"))


def test_one_that_initializes_rounds_is_fine() -> None:
    silent(_named("orch", initialize_round="true"))


def _chosen(name: str, *tables: str) -> str:
    text = onchain(gateway(wallet='"earner"'), *tables)
    more = f'reward_by = "{name}"\ndeposit = "0.5 ETH"\nreserve = "0.3 ETH"'
    return text.replace("[wallets.earner]", f"[wallets.earner]\n{more}")


def test_gateway_although_an_orchestrator_could(snapshot: SnapshotAssertion) -> None:
    assert flagged(_chosen("gate", orchestrator()), CODE, Severity.WARNING) == snapshot


def test_orchestrator_is_fine() -> None:
    silent(_chosen("orch", orchestrator()))


def test_gateway_alone_is_fine() -> None:
    silent(_chosen("gate"))
