"""Prices as the node computes them: exact rationals per pixel, in wei or another currency.

In: texts of the price flags and numbers of JSON files. Out: `Price`, or ValueError.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from tests.node.values import rational

_PATTERN = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-z][A-z0-9]*)?")  # A-z takes in [ \ ] ^ _ ` as well, as the node does
DEFAULT_FEED = "0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612"
_FEED_NETWORK = "arbitrum-one-mainnet"


class Price(NamedTuple):
    """An amount of a currency for one pixel or compute unit; `currency` is "wei" or an upper-case code."""

    per_pixel: Fraction
    currency: str


def parts(text: str) -> tuple[Fraction, str]:
    """The number and the currency of a price flag, as written. Raises ValueError."""
    found = _PATTERN.fullmatch(text)
    if found is None:
        raise ValueError("not a price")
    return Fraction(found[1]), found[2] or ""


def amount(text: str) -> Price:
    """A price flag on its own, before it is divided by the pixels. Raises ValueError."""
    return in_currency(*parts(text))


def in_currency(number: Fraction, currency: str) -> Price:
    """A number of a currency: no currency is wei, and ether is turned into wei."""
    known = currency.upper()
    if known in ("", "WEI"):
        return Price(number, "wei")
    if known == "ETH":
        return Price(number * 10**18, "wei")
    return Price(number, known)


def pixels(text: str) -> Fraction:
    """-pixelsPerUnit: a positive integer in any of Go's rational forms. Raises ValueError."""
    value = rational(text)
    if value.denominator != 1 or value <= 0:
        raise ValueError("not a positive integer")
    return value


def over(price: Price, count: Fraction) -> Price:
    """A price for `count` pixels as a price for one."""
    return Price(price.per_pixel / count, price.currency)


def has_no_feed(currency: str, network: str, feed: str) -> bool:
    """Whether the node surely cannot convert the currency. Nothing is known about a feed of one's own."""
    if currency == "wei" or feed.lower() != DEFAULT_FEED.lower():
        return False
    return currency != "USD" or network != _FEED_NETWORK
