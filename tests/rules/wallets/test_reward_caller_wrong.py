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


def test_sound_specs_are_silent() -> None:
    assert printed(_caller("orch"), CODE) == "no problems\n"
    assert printed(_caller("none"), CODE) == "no problems\n"
    # Single holder decides itself.
    silent(onchain(orchestrator(), gateway()))
    # Offchain nobody calls reward.
    pair = [orchestrator(wallet='"w"', price=None), orchestrator("second", host='"edge"', wallet='"w"', price=None)]
    assert printed(offchain(wallet("w"), *pair), CODE) == "no problems\n"
    # Caller that its wallet names is fine.
    silent(_named("caller"))
    silent(_named("orch", initialize_round="true"))
    silent(_chosen("orch", orchestrator()))
    silent(_chosen("gate"))


def test_unsound_specs_are_flagged() -> None:
    # Gateways alone have nobody to name.
    pair = [gateway(), gateway("gate-2", host='"gpu"')]
    assert 'write reward_by = "none" in wallets.payer\n' in flagged(onchain(*pair), CODE)
    # Gateway and orchestrator propose the orchestrator.
    assert 'reward_by = "orch"' in flagged(onchain(gateway(wallet='"earner"'), orchestrator()), CODE)
    # Process that does nothing else is proposed first.
    assert 'reward_by = "caller"' in flagged(onchain(orchestrator(), reward_caller()), CODE)
    # Every node with the wallet counts.
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


def _chosen(name: str, *tables: str) -> str:
    text = onchain(gateway(wallet='"earner"'), *tables)
    more = f'reward_by = "{name}"\ndeposit = "0.5 ETH"\nreserve = "0.3 ETH"'
    return text.replace("[wallets.earner]", f"[wallets.earner]\n{more}")


def test_gateway_although_an_orchestrator_could(snapshot: SnapshotAssertion) -> None:
    assert flagged(_chosen("gate", orchestrator()), CODE, Severity.WARNING) == snapshot
