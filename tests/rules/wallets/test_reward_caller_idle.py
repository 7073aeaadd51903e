"""Reward callers that have nothing to do."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, onchain, orchestrator, reward_caller, silent, wallet

CODE = "reward-caller-idle"


def _named(caller: str, **settings: str | None) -> str:
    return onchain(
        wallet(reward_by=f'"{caller}"'),
        orchestrator(wallet='"third"', cli='"127.0.0.1:7935"'),
        reward_caller(wallet='"third"', **settings),
    )


def test_another_node_calls_reward(snapshot: SnapshotAssertion) -> None:
    assert flagged(_named("orch"), CODE) == snapshot


def test_named_caller_is_fine() -> None:
    silent(_named("caller"))


def test_one_that_initializes_rounds_is_fine() -> None:
    silent(_named("orch", initialize_round="true"))
