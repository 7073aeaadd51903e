"""Runners that clients of a signer cannot find."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, renting, runner, signer, silent

CODE = "runner-nobody-sells"


def test_nobody_offers_it(snapshot: SnapshotAssertion) -> None:
    tiles = runner("tiles", port="8990")
    assert flagged(renting(runner(), tiles, tables=(signer(buys_runners='["tiles"]'),)), CODE) == snapshot


def test_the_list_of_the_signer_leaves_its_seller_out(snapshot: SnapshotAssertion) -> None:
    buyer = signer(buys_runners='["echo"]', remote_discovery="true", orchestrators='["https://o.example.net:8935"]')
    assert flagged(renting(tables=(buyer,)), CODE) == snapshot


def test_one_seller_is_enough() -> None:
    silent(renting(tables=(signer(buys_runners='["echo"]'),)))
