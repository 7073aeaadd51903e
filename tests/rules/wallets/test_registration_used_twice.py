"""Ids and accounts that register twice."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import avatars, flagged, onchain, orchestrator, silent, staged

CODE = "registration-used-twice"


def _both(first: str, second: str) -> str:
    other = avatars("studio", host='"edge"', slots='[{ avatar = "ada" }]', registration=second)
    return staged(avatars(registration=first), other)


def _account(name: str, digit: int) -> str:
    return f'{{ id = "{name}", address = "0x{str(digit) * 40}" }}'


def test_one_account_under_two_ids(snapshot: SnapshotAssertion) -> None:
    assert flagged(_both(_account("a", 1), _account("b", 1)), CODE) == snapshot


def test_one_id_for_two_hosts(snapshot: SnapshotAssertion) -> None:
    assert flagged(_both(_account("a", 1), _account("a", 2)), CODE) == snapshot


def test_wallet_of_an_orchestrator_counts_as_its_account() -> None:
    first = avatars(registration='{ id = "a", orchestrator = "orch" }')
    slots = '[{ avatar = "ada" }]'
    second = avatars("studio", host='"edge"', slots=slots, registration=_account("b", 2))
    text = onchain(orchestrator(), first, second, avatar_release='"v1.3.6"')
    assert "both register the account 0x2222" in flagged(text, CODE)
    silent(text.replace("0x" + "2" * 40 + '" }', "0x" + "4" * 40 + '" }'))
