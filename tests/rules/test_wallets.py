"""Borders of the rules about wallets, keystores and registrations: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    OneRule,
    avatars,
    free_gateway,
    free_orchestrator,
    gateway,
    offchain,
    onchain,
    orchestrator,
    redeemer,
    reward_caller,
    signer,
    silent,
    staged,
    transcoder,
    wallet,
)

KEYSTORE = '"/var/lib/livepeer/keystore"'
BELOW = "/srv/lp/arbitrum-one-mainnet"


def _fleet(data_dir: str, keystore: str = f"{BELOW}/keystore") -> str:
    own = gateway(data_dir=f'"{data_dir}"', wallet='"third"')
    return onchain(own, wallet(keystore=f'"{keystore}"', deposit='"1 ETH"', reserve='"1 ETH"'))


def test_data_dir_beside_keystore(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Directory that is written out.
    rule.errs(onchain(gateway(data_dir=KEYSTORE)))
    silent(onchain(gateway()))
    # Default directory of a node named keystore.
    assert rule.errs(onchain(gateway("keystore"))) == snapshot
    silent(onchain(gateway("keystore", data_dir='"/var/lib/livepeer/keystore-node"')))
    # Keystore of another node of the host.
    text = onchain(orchestrator(secret=SECRET), transcoder("keystore", secret=SECRET))
    rule.errs(text, "data directory of keystore on host gpu")
    # Keystore inside the data directory is fine.
    silent(onchain(gateway(data_dir='"/var/lib/livepeer"')))
    silent(onchain(orchestrator(secret=SECRET), transcoder("keystore", host='"edge"', secret=SECRET)))
    # No keystore is used off chain.
    silent(offchain(free_gateway("keystore"), free_orchestrator()))
    # Directory with the keystore in it is fine.
    silent(_fleet(BELOW))
    silent(_fleet("/srv/lp", "/srv/lp/keys/keystore"))
    silent(_fleet("/srv/lp", BELOW))
    # Directory above that of the network.
    assert rule.warns(_fleet("/srv/lp")) == snapshot
    # Directory of another network counts too.
    rule.warns(_fleet("/srv/lp", "/srv/lp/mainnet/keystore"), "the keystore of gate is in /srv/lp/mainnet")


def _both(first: str, second: str) -> str:
    other = avatars("studio", host='"edge"', slots='[{ avatar = "ada" }]', registration=second)
    return staged(avatars(registration=first), other)


def _account(name: str, digit: int) -> str:
    return f'{{ id = "{name}", address = "0x{str(digit) * 40}" }}'


def test_registration_used_twice(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # One ID for two hosts.
    assert rule.errs(_both(_account("a", 1), _account("a", 2))) == snapshot
    # Wallet of an orchestrator counts as its account.
    first = avatars(registration='{ id = "a", orchestrator = "orch" }')
    slots = '[{ avatar = "ada" }]'
    second = avatars("studio", host='"edge"', slots=slots, registration=_account("b", 2))
    text = onchain(orchestrator(), first, second, avatar_release='"v1.3.6"')
    rule.errs(text, "both register the account 0x2222")
    silent(text.replace("0x" + "2" * 40 + '" }', "0x" + "4" * 40 + '" }'))


SECOND = orchestrator("second", host='"edge"')


def _caller(name: str) -> str:
    return onchain(orchestrator(), SECOND).replace("[wallets.earner]", f'[wallets.earner]\nreward_by = "{name}"')


def _named(caller: str, **settings: str | None) -> str:
    return onchain(
        wallet(reward_by=f'"{caller}"'),
        orchestrator(wallet='"third"', cli='"127.0.0.1:7935"'),
        reward_caller(wallet='"third"', **settings),
    )


def _chosen(name: str, *tables: str) -> str:
    text = onchain(gateway(wallet='"earner"'), *tables)
    more = f'reward_by = "{name}"\ndeposit = "0.5 ETH"\nreserve = "0.3 ETH"'
    return text.replace("[wallets.earner]", f"[wallets.earner]\n{more}")


def test_reward_caller_wrong(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    rule.quiet(_caller("orch"))
    rule.quiet(_caller("none"))
    # Single holder decides itself.
    silent(onchain(orchestrator(), gateway()))
    # Off chain nobody calls reward.
    pair = [orchestrator(wallet='"w"', price=None), orchestrator("second", host='"edge"', wallet='"w"', price=None)]
    rule.quiet(offchain(wallet("w"), *pair))
    # Caller that its wallet names is fine.
    silent(_named("caller"))
    silent(_named("orch", initialize_round="true"))
    silent(_chosen("orch", orchestrator()))
    silent(_chosen("gate"))
    # Gateways alone have nobody to name.
    pair = [gateway(), gateway("gate-2", host='"gpu"')]
    rule.errs(onchain(*pair), 'write reward_by = "none" in wallets.payer\n')
    # Gateway and orchestrator propose the orchestrator.
    rule.errs(onchain(gateway(wallet='"earner"'), orchestrator()), 'reward_by = "orch"')
    # Process that does nothing else is proposed first.
    rule.errs(onchain(orchestrator(), reward_caller()), 'reward_by = "caller"')
    # Every node with the wallet counts.
    text = onchain(wallet(reward_by=None), signer(wallet='"third"'), redeemer(wallet='"third"', host='"gpu"'))
    rule.errs(text, "2 nodes share wallet third")
    # Another node calls reward.
    assert rule.errs(_named("orch")) == snapshot
    # Gateway although an orchestrator could.
    assert rule.warns(_chosen("gate", orchestrator())) == snapshot
