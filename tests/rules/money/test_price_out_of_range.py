"""Prices that do not fit the node's numbers."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, onchain, orchestrator, silent

CODE = "price-out-of-range"


def test_more_than_the_node_can_send(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(orchestrator(price='"1 ETH / pixel"')), CODE) == snapshot


def test_largest_price_is_fine() -> None:
    silent(onchain(orchestrator(price='"9223372036854775 wei / pixel"')))
    assert flagged(onchain(orchestrator(price='"9223372036854776 wei / pixel"')), CODE)


def test_without_adjustment_the_fraction_has_to_fit() -> None:
    exact = {"auto_adjust_price": "false"}
    silent(onchain(orchestrator(price='"9223372036854775807 wei / pixel"', **exact)))
    assert flagged(onchain(orchestrator(price='"9223372036854775808 wei / pixel"', **exact)), CODE)
    assert "fewer digits" in flagged(onchain(orchestrator(price='"1.00000000000000000001 wei / pixel"', **exact)), CODE)


def test_other_currencies_are_reckoned_by_their_rate() -> None:
    price = orchestrator(price='"10000 USD / pixel"')
    silent(onchain(price))
    assert flagged(onchain(price, '[rates]\nUSD = "0.00042 ETH"\n'), CODE)
