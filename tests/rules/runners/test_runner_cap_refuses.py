"""Signers whose cap is below the price of a runner."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, printed, renting, runner, signer, silent

CODE = "runner-cap-refuses"


def buying(cap: str, **price: str) -> str:
    buyer = signer(buys_runners='["echo"]', max_price=cap, allow_no_auth="true")
    return renting(runner(**price), tables=(buyer,))


def test_cap_of_pixels_against_a_price_by_the_second(snapshot: SnapshotAssertion) -> None:
    assert flagged(buying('"1500 wei / pixel"'), CODE) == snapshot


def test_the_number_that_it_names_is_the_lowest_that_does() -> None:
    text = buying('"1500 wei / pixel"')
    assert '"11111111111 wei / pixel"' in flagged(text, CODE)
    silent(buying('"11111111111 wei / pixel"'))
    flagged(buying('"11111111110 wei / pixel"'), CODE)
    silent(buying('"any"'))


def test_cap_in_usd_is_compared_at_the_rate() -> None:
    flagged(buying('"0.00001 USD / pixel"'), CODE)
    silent(buying('"0.00003 USD / pixel"'))


def test_a_signer_that_names_no_runner_is_not_asked() -> None:
    assert CODE not in printed(renting(tables=(signer(max_price='"1500 wei / pixel"'),)))
