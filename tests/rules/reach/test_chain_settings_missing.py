"""What a node on a chain cannot start without."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    flagged,
    gateway,
    host,
    offchain,
    onchain,
    orchestrator,
    redeemer,
    reward_caller,
    signer,
    silent,
    wallet,
)

CODE = "chain-settings-missing"


def test_no_rpc_address(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(gateway(), rpc=None), CODE) == snapshot


def test_all_there_is_fine() -> None:
    silent(onchain(gateway(), orchestrator()))


def test_orchestrator_without_a_wallet(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(wallet=None)), CODE) == snapshot


def test_only_wallet_is_proposed() -> None:
    chain = {"network": '"arbitrum-one-mainnet"', "rpc": '{ env = "RPC" }'}
    assert 'write wallet = "w"\n' in flagged(offchain(wallet("w"), gateway(wallet=None), **chain), CODE)


def test_remote_signer_holds_the_wallet() -> None:
    signed = '{ url = "https://signer.example.net" }'
    silent(onchain(gateway(wallet=None, max_price=None, mode='"ai"', remote_signer=signed)))


def test_addresses_of_hosts_are_enough_where_all_have_one() -> None:
    far = host("far", rpc='"http://127.0.0.1:8547"')
    silent(onchain(far, gateway(host='"far"'), rpc=None))
    found = flagged(onchain(far, gateway(host='"far"'), gateway("other"), rpc=None), CODE)
    assert "runs on arbitrum-one-mainnet but has no RPC address for host edge" in found


def test_fleet_of_workers_needs_no_rpc() -> None:
    worker = '[transcoders.t]\nhost = "gpu"\norchestrator = "orch.example.net:8935"\nsecret = { env = "S" }\n'
    silent(onchain(worker, rpc=None))


def test_helpers_need_both_too() -> None:
    found = flagged(onchain(signer(wallet=None), redeemer(wallet=None), reward_caller(wallet=None), rpc=None), CODE)
    assert all(f"{name} runs on" in found for name in ("signer", "redeemer", "caller"))
    assert "no RPC address" in found
