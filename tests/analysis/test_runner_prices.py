"""What live runners cost: the node's own conversions, what a signer can prepay, and prices as people quote them."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.analysis import runner_prices
from fleetc.analysis.tickets import SIGNED_NONCES
from fleetc.language.quantities import QuantityError, parse_runner_price, parse_wei
from tests.support import ROOT

VECTORS = json.loads((ROOT / "tests" / "data" / "live_runners.json").read_text())
WORDS = {
    "price cannot be converted to int64": runner_prices.TOO_LARGE,
    "converted live runner price must be at least one wei": runner_prices.TOO_SMALL,
}


@pytest.mark.parametrize("vector", VECTORS["prices"], ids=lambda vector: vector[0])
def test_conversion_is_that_of_the_node(vector: list[Any]) -> None:
    _, price, unit, feed, exact, wanted = vector
    found = runner_prices.converted(Fraction(price), unit, Fraction(10**18) / Fraction(feed))
    assert found.exact == Fraction(exact)
    if isinstance(wanted, int):
        assert (found.wei, found.refusal) == (wanted, "")
    else:
        assert found.refusal == WORDS[wanted]


RATE = {"USD": parse_wei("0.0004 ETH")}
"""2,500 USD for an ETH."""


@pytest.mark.parametrize(("unit", "ceiling"), [("hour", "0.72"), ("720p", "0.1199370"), ("fixed", "0.002")])
def test_highest_price_that_a_signer_prepays_with_tickets_of_the_default_value(unit: str, ceiling: str) -> None:
    found = runner_prices.dearest(unit, 8 * 10**9, RATE["USD"].wei)
    assert abs(found - Fraction(ceiling)) < Fraction(1, 10**7)
    at_it = runner_prices.converted(found, unit, RATE["USD"].wei)
    assert at_it.ticket_ev_needed <= 8 * 10**9
    above = runner_prices.converted(found * Fraction(1003, 1000), unit, RATE["USD"].wei)
    assert above.ticket_ev_needed > 8 * 10**9


def test_documented_price_of_the_node_needs_larger_tickets() -> None:
    found = runner_prices.worth(parse_runner_price("3.50 USD / hour"), RATE)
    assert found is not None
    assert (found.wei, found.prepaid, found.ticket_ev_needed) == (388888888888, 3888888888880, 38888888889)


@pytest.mark.parametrize(
    ("text", "written", "unit"),
    [
        ("0.72 USD / hour", "0.72", "hour"),
        ("0.012 USD/minute", "0.72", "hour"),
        ("0.01 USD / 720p minute", "0.6", "720p"),
        ("0.5 USD / 720p hour", "0.5", "720p"),
        ("0.0001 USD / request", "0.0001", "fixed"),
        ("0.10 USD / session", "0.1", "fixed"),
        ("0.0003 ETH / hour", "0.75", "hour"),
        ("4 gwei / request", "0.00001", "fixed"),
        ("0.0001 ETH / hour", "0.25", "hour"),
    ],
)
def test_price_that_people_quote_becomes_the_one_that_the_node_takes(text: str, written: str, unit: str) -> None:
    price = parse_runner_price(text)
    assert (f"{runner_prices.usd(price, RATE):f}", price.sold_by.node) == (written, unit)


def test_ether_in_usd_is_cut_and_never_asks_for_more() -> None:
    price = parse_runner_price("1 ETH / hour")
    rate = {"USD": parse_wei("0.0003 ETH")}
    assert str(runner_prices.usd(price, rate)) == "3333.33333333"
    found = runner_prices.worth(price, rate)
    assert found is not None
    assert 0 < Fraction(10**18, 3600) - found.exact < Fraction(10**18, 3600) / 10**11


def test_without_a_rate_nobody_knows() -> None:
    assert runner_prices.worth(parse_runner_price("1 USD / hour"), {}) is None
    assert runner_prices.usd(parse_runner_price("1 ETH / hour"), {}) is None
    assert runner_prices.usd(parse_runner_price("1 USD / hour"), {}) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 USD / hour", "price of zero"),
        ("1 USD", "not the price of a runner"),
        ("1 USD / call", "not what the node sells"),
        ("1 EUR / hour", "USD alone"),
        ("-1 USD / hour", "not the price of a runner"),
        ("1e3 USD / hour", "not the price of a runner"),
        ("1 USD / pixel", "not what the node sells"),
        (f"0.{'1' * 40} USD / hour", "digits"),
        ("1" * 5000 + " USD / hour", "too long"),
        (3, "must be text"),
    ],
)
def test_what_is_no_price_is_refused_with_a_reason(text: object, message: str) -> None:
    with pytest.raises(QuantityError) as found:
        parse_runner_price(text)
    assert message in found.value.message
    assert found.value.help


@given(
    st.decimals("0.000001", "1000000", places=6),
    st.sampled_from(sorted(runner_prices.PARTS)),
    st.integers(10**12, 10**16),
)
def test_tickets_of_the_value_that_is_named_are_enough_and_no_smaller_ones(amount: Any, unit: str, rate: int) -> None:
    found = runner_prices.converted(Fraction(amount), unit, rate)
    if found.refusal:
        return
    needed = found.ticket_ev_needed
    assert needed * SIGNED_NONCES >= found.prepaid > (needed - 1) * SIGNED_NONCES


@given(st.decimals("0.000001", "1000000", places=6), st.sampled_from(["hour", "720p minute", "session"]))
def test_price_is_read_back_as_it_is_written(amount: Any, unit: str) -> None:
    price = parse_runner_price(f"{amount:f} USD / {unit}")
    assert parse_runner_price(str(price)) == price
    assert price.amount == amount
