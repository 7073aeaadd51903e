"""Runners whose price is no number of wei."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, printed, renting, runner, silent

CODE = "runner-price-not-convertible"


def test_less_than_one_wei(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runner(price='"0.0001 USD / 720p hour"')), CODE) == snapshot


def test_more_than_the_node_can_count(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runner(price='"25000 USD / request"')), CODE) == snapshot


def test_one_wei_is_enough() -> None:
    silent(renting(runner(price='"0.000249 USD / 720p hour"'), ticket_ev='"1 gwei"'))


@pytest.mark.parametrize(
    ("asked", "enough"),
    [
        ("0.0001 USD / 720p hour", "0.000248832 USD / 720p hour"),
        ("0.000001 USD / 720p minute", "0.0000041472 USD / 720p minute"),
        ("0.0000000001 ETH / 720p hour", "0.0000000995328 ETH / 720p hour"),
    ],
)
def test_the_price_that_it_names_would_do(asked: str, enough: str) -> None:
    assert f'price = "{enough}" or more' in flagged(renting(runner(price=f'"{asked}"')), CODE)
    assert printed(renting(runner(price=f'"{enough}"')), CODE) == "no problems\n"  # its tickets are worth much more
