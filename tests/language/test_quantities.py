"""Quantities of the spec language: exact, strict, and printed so that they can be read again."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.language.quantities import (
    Bytes,
    Duration,
    Price,
    QuantityError,
    Wei,
    parse_bytes,
    parse_duration,
    parse_eth_address,
    parse_host,
    parse_listener,
    parse_port_range,
    parse_price,
    parse_url,
    parse_wei,
)
from tests.support import for_each
from tests.toml.toml_texts import VECTORS

Parser = Callable[[object], object]
TEXT_PARSERS: list[Parser] = [
    parse_price,
    parse_wei,
    parse_bytes,
    parse_duration,
    parse_host,
    parse_listener,
    parse_port_range,
    parse_eth_address,
    lambda value: parse_url(value, ("https",)),
]


def refused(parse: Parser, value: object) -> QuantityError:
    """The error of a value that must be refused; it says what is wrong and what to write."""
    with pytest.raises(QuantityError) as caught:
        parse(value)
    assert caught.value.message and caught.value.help
    assert len(caught.value.message) < 200
    return caught.value


# ---- all of them


@for_each("parse", TEXT_PARSERS)
@for_each("value", [5, Decimal("1.5"), True, None, [], {}, "", " ", "x" * 10000, "1\n", "\x00"])
def test_only_text_of_the_right_form_is_taken(parse: Parser, value: object) -> None:
    refused(parse, value)


@given(st.sampled_from(TEXT_PARSERS), st.text("0123456789.-_+ :/@[]xabefgEGhimsETHwUSD١１\n", max_size=24))
def test_law_any_text_is_read_or_refused_and_what_is_read_prints_as_itself(parse: Parser, text: str) -> None:
    try:
        value = parse(text)
    except QuantityError:
        return
    assert parse(str(value)) == value


@for_each("number", ["01", "1.", ".5", "+1", "-1", "1e3", "1_0", "1,0", "0x1", "١", "１", "", "NaN", "1 "])
@for_each(
    ("parse", "form"),
    [
        (parse_price, "{} wei / pixel"),
        (parse_price, "1 wei / {} pixels"),
        (parse_wei, "{} ETH"),
        (parse_bytes, "{} GiB"),
        (parse_duration, "{} s"),
        (parse_duration, "1h{}s"),
        (parse_port_range, "{}-9"),
        (parse_listener, "x:{}"),
    ],
)
def test_numbers_have_one_plain_form(parse: Parser, form: str, number: str) -> None:
    refused(parse, form.format(number))


def test_a_number_without_quotes_is_answered_with_the_form() -> None:
    assert '"1200 wei / pixel"' in refused(parse_price, 1200).help
    assert '"24 GiB"' in refused(parse_bytes, Decimal("24")).help


# ---- money


@pytest.mark.parametrize(
    ("text", "amount", "currency", "pixels", "printed"),
    [
        ("1200 wei / pixel", "1200", "wei", 1, "1200 wei / pixel"),
        ("1200 wei/pixel", "1200", "wei", 1, "1200 wei / pixel"),
        ("0.41 USD / 1000000000000 pixels", "0.41", "USD", 10**12, "0.41 USD / 1000000000000 pixels"),
        ("0.41 USD / terapixel", "0.41", "USD", 10**12, "0.41 USD / 1000000000000 pixels"),
        ("1.50 EUR / 2 megapixels", "1.5", "EUR", 2 * 10**6, "1.5 EUR / 2000000 pixels"),
        ("1 gwei / gigapixel", "1000000000", "wei", 10**9, "1000000000 wei / 1000000000 pixels"),
        ("0.000000000000000001 ETH / pixel", "1", "wei", 1, "1 wei / pixel"),
        ("0.0000000000000000001 ETH / pixel", "0.1", "wei", 1, "0.1 wei / pixel"),
        ("0.10 wei / pixel", "0.1", "wei", 1, "0.1 wei / pixel"),
    ],
)
def test_prices_are_exact(text: str, amount: str, currency: str, pixels: int, printed: str) -> None:
    price = parse_price(text)
    assert price == Price(Decimal(amount), currency, pixels)
    assert str(price) == printed


@pytest.mark.parametrize(
    ("text", "smaller"),
    [
        ("1500 gwei / pixel", ["1500 wei / pixel", "0.0000015 wei / pixel"]),
        ("2 USD / megapixel", []),
        ("3 wei / 7 pixels", ["0.000000003 wei / 7 pixels", "0.000000000000000003 wei / 7 pixels"]),
        (f"0.{'0' * 65}1 wei / 7 pixels", [f"0.{'0' * 74}1 wei / 7 pixels"]),
    ],
)
def test_price_in_smaller_units(text: str, smaller: list[str]) -> None:
    price = parse_price(text)
    found = [str(other) for other in price.in_smaller_units() if other.pixels == price.pixels]
    assert found == smaller
    larger = [other.pixels for other in price.in_smaller_units() if other.pixels != price.pixels]
    assert larger == {1: [10**6, 10**9, 10**12], 10**6: [10**9, 10**12]}.get(price.pixels, [])


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("1200 wei", '"1200 wei / pixel"'),
        ("1 eth / pixel", 'write "1 ETH / pixel"'),
        ("1 Gwei / pixel", 'write "1 gwei / pixel"'),
        ("1 usd / pixel", "USD"),
        ("1 wei / furlong", "megapixel"),
        ("1 wei / 0 pixels", "pixel"),
        (f"1 wei / {2**256} pixels", "pixel"),
        (f"1 wei / {2**254} megapixels", "pixel"),
        (f"{2**256} wei / pixel", "pixel"),
        ("1 USDUSDUSDUSD / pixel", "USD"),
        ("1  wei / pixel", "pixel"),
    ],
)
def test_a_bad_price_is_answered_with_a_good_one(text: str, advice: str) -> None:
    assert advice in refused(parse_price, text).help


def test_price_per_pixel_is_a_fraction() -> None:
    assert parse_price("0.41 USD / 3 pixels").per_pixel == Fraction(41, 300)


def test_zero_price_is_read_and_marked() -> None:
    assert parse_price("0 wei / pixel").is_zero
    assert not parse_price("0.001 wei / pixel").is_zero


def test_price_in_other_currency_is_not_compared() -> None:
    assert parse_price("1 USD / pixel").compare(parse_price("1 EUR / pixel")) is None
    assert parse_price("2 gwei / 2 pixels").compare(parse_price("1000000000 wei / pixel")) == 0
    assert parse_price("1 wei / 3 pixels").compare(parse_price("0.34 wei / pixel")) == -1
    assert parse_price("0.34 wei / pixel").compare(parse_price("1 wei / 3 pixels")) == 1


@pytest.mark.parametrize(
    ("amount", "currency", "pixels"),
    [
        ("NaN", "wei", 1),
        ("Infinity", "wei", 1),
        ("-1", "wei", 1),
        ("-0", "wei", 1),
        ("1E+999999", "wei", 1),
        ("1E-999999", "wei", 1),
        ("1", "ETH", 1),
        ("1", "usd", 1),
        ("1", "wei", 0),
    ],
)
def test_a_price_cannot_be_built_wrong(amount: str, currency: str, pixels: int) -> None:
    with pytest.raises(QuantityError):
        Price(Decimal(amount), currency, pixels)


PRICES = st.builds(
    Price,
    st.decimals(0, 10**20, places=18).filter(lambda amount: not amount.is_signed()),
    st.sampled_from(["wei", "USD", "A1"]),
    st.integers(1, 2**256 - 1),
)


@given(PRICES)
def test_law_a_printed_price_is_the_same_price(price: Price) -> None:
    assert parse_price(str(price)) == price


@given(st.one_of(st.integers(0, 2**256 - 1), st.integers(0, 10**20)))
def test_law_printed_ether_is_the_same_amount(wei: int) -> None:
    assert parse_wei(str(Wei(wei))) == Wei(wei)


@pytest.mark.parametrize(
    ("wei", "printed"),
    [
        (0, "0 wei"),
        (999_999, "999999 wei"),
        (10**6, "0.001 gwei"),
        (5 * 10**9, "5 gwei"),
        (10**15, "0.001 ETH"),
        (5 * 10**16, "0.05 ETH"),
        (10**18 + 1, "1.000000000000000001 ETH"),
        (10**20, "100 ETH"),
    ],
)
def test_ether_is_printed_in_a_unit_people_use(wei: int, printed: str) -> None:
    assert str(Wei(wei)) == printed


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["area"] == "money.amount"], ids=lambda v: str(v["id"]))
def test_known_amounts(vector: dict[str, Any]) -> None:
    amount = vector["input"]["amount"]
    unit = vector["input"]["unit"].replace("ether", "ETH")
    value = f"{amount} {unit}" if isinstance(amount, str) else amount
    if "wei" in vector["expect"]:
        assert parse_wei(value) == Wei(int(vector["expect"]["wei"]))
    else:
        refused(parse_wei, value)


def test_ether_is_offered_in_its_own_spelling() -> None:
    assert '"1 ETH"' in refused(parse_wei, "1 ether").help
    assert '"1.5 gwei"' in refused(parse_wei, "1.5 Gwei").help


# ---- bytes and durations


@pytest.mark.parametrize(
    ("text", "count", "printed"),
    [
        ("9 GiB", 9 * 2**30, "9 GiB"),
        ("512 MiB", 2**29, "512 MiB"),
        ("1 TiB", 2**40, "1 TiB"),
        ("1024 GiB", 2**40, "1 TiB"),
        ("1.5 GiB", 1536 * 2**20, "1536 MiB"),
        ("24 GB", 24 * 10**9, "23437500 KiB"),
        ("1 kB", 1000, "1000 B"),
        ("0 B", 0, "0 B"),
    ],
)
def test_sizes(text: str, count: int, printed: str) -> None:
    assert parse_bytes(text) == Bytes(count)
    assert str(Bytes(count)) == printed


@pytest.mark.parametrize("text", ["24", "24 gib", "24GiB", "0.1 KiB", "24 G", "9999999 TiB", "1 KB"])
def test_unclear_sizes_are_refused(text: str) -> None:
    refused(parse_bytes, text)


@given(st.integers(0, 2**63 - 1) | st.integers(0, 2**13).map(lambda count: count * 2**30))
def test_law_a_printed_size_is_the_same_size(count: int) -> None:
    assert parse_bytes(str(Bytes(count))) == Bytes(count)


@pytest.mark.parametrize(
    ("text", "microseconds", "printed"),
    [
        ("500 ms", 500_000, "500ms"),
        ("500ms", 500_000, "500ms"),
        ("5 s", 5_000_000, "5s"),
        ("25 min", 1_500_000_000, "25m0s"),
        ("1 h", 3_600_000_000, "1h0m0s"),
        ("1m30s", 90_000_000, "1m30s"),
        ("90s", 90_000_000, "1m30s"),
        ("1.5 s", 1_500_000, "1.5s"),
        ("1500us", 1_500, "1.5ms"),
        ("7 µs", 7, "7µs"),
        ("1h0m0.000001s", 3_600_000_001, "1h0m0.000001s"),
        ("0 s", 0, "0s"),
    ],
)
def test_durations_print_as_go_prints_them(text: str, microseconds: int, printed: str) -> None:
    assert parse_duration(text) == Duration(microseconds)
    assert str(Duration(microseconds)) == printed


@pytest.mark.parametrize(
    ("text", "advice"),
    [("500", '"500 s" or "500 ms"'), ("0", '"0 s"'), ("2 days", '"48 h"'), ("1s1h", "1m30s"), ("0.0000001 s", "")],
)
def test_a_bad_duration_is_answered_with_a_good_one(text: str, advice: str) -> None:
    assert advice in refused(parse_duration, text).help


def test_whole_seconds_are_whole() -> None:
    assert parse_duration("1m30s").whole_seconds == 90
    with pytest.raises(QuantityError):
        _ = parse_duration("1500 ms").whole_seconds


@given(st.integers(0, (2**63 - 1) // 1000) | st.integers(0, 10**7))
def test_law_a_printed_duration_is_the_same_duration(microseconds: int) -> None:
    assert parse_duration(str(Duration(microseconds))) == Duration(microseconds)
