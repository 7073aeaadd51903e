"""Names that lead nowhere, and what the message says of them."""

from __future__ import annotations

from tests.support import ROOT, check_text

SPEC = (ROOT / "inventories/dual-onchain/fleet.toml").read_text(encoding="utf-8")


def test_reward_caller_with_another_wallet_is_named_with_both() -> None:
    shown = check_text(SPEC.replace('wallet = "earner"', 'wallet = "payer"'))
    assert (
        "error[reward-caller-without-wallet]: orch should call reward for wallet earner, but it uses wallet payer"
        in shown
    )


def test_misspelt_wallet_of_the_reward_caller_is_said_once() -> None:
    shown = check_text(SPEC.replace('wallet = "earner"', 'wallet = "earnr"'))
    assert 'there is no wallet "earnr"' in shown
    assert shown.endswith("\n1 error\n")


def test_unknown_network_lists_the_known_ones() -> None:
    shown = check_text(SPEC.replace("arbitrum-one-mainnet", "arbitrum"))
    assert "known networks: arbitrum-one-mainnet" in shown
