"""Loads that do not count what a runner is sold by."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, renting, runner, signer, silent

CODE = "runner-load-in-other-unit"


def expecting(load: str, price: str) -> str:
    pays = signer(
        buys_runners='["echo"]', runner_load=f'{{ echo = "{load}" }}', max_price='"any"', allow_no_auth="true"
    )
    return renting(runner(price=f'"{price}"', capacity="9"), tables=(pays,))


def test_sessions_of_what_is_sold_by_request(snapshot: SnapshotAssertion) -> None:
    assert flagged(expecting("3 sessions", "0.0001 USD / request"), CODE) == snapshot


@pytest.mark.parametrize("price", ["0.1 USD / hour", "0.001 USD / minute", "0.01 USD / 720p hour"])
def test_requests_of_what_is_sold_by_time(price: str) -> None:
    assert '"2.5 sessions"' in flagged(expecting("200 requests / hour", price), CODE)
    silent(expecting("2.5 sessions", price))


def test_requests_of_what_is_sold_by_request() -> None:
    silent(expecting("200 requests / hour", "0.0001 USD / request"))
