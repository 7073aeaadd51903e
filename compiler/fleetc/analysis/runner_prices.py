"""Prices of live runners: for the node, converted, and prepayable by a signer.

In: prices of a spec and its rates. Out: exact amounts. Source: the node's code at release v0.9.1. It divides a price by
its unit, converts it at its price feed and cuts to whole wei once. No cost of redeeming is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from fleetc.analysis.tickets import SIGNED_NONCES
from fleetc.language.quantities import WEI_IN_ETHER, RunnerPrice, Wei, canonical_number

MOST_WEI = 2**63 - 1

PIXELS_IN_A_SECOND = 1280 * 720 * 30
"""The node's charge for a second of any picture sold by 720p."""

ADVERTISED: Mapping[str, str] = {"hour": "second", "720p": "pixel", "fixed": "request"}
"""What a wei amount is for, by the node's unit of the price."""
PARTS: Mapping[str, int] = {"hour": 3600, "720p": 3600 * PIXELS_IN_A_SECOND, "fixed": 1}
"""How many of the advertised units one of the node's units has."""
PREPAID: Mapping[str, int] = {"hour": 10, "720p": 60 * PIXELS_IN_A_SECOND, "fixed": 1}
"""How many of the advertised units a signer pays in advance: 10 s, 60 s of pixels, or one."""

TOO_SMALL, TOO_LARGE = "less than one wei", "more than the node can count"
_EXACT = Context(prec=80)
_WRITTEN = Context(prec=12, rounding=ROUND_FLOOR)


@dataclass(frozen=True, slots=True)
class RunnerWorth:
    """A runner's price: whole wei for one `advertised` unit, and why the node refuses it, or "".

    `unit` is the node's own: hour, 720p or fixed.
    """

    unit: str
    exact: Fraction
    refusal: str = ""

    @property
    def wei(self) -> int:
        """What the node advertises, in whole wei."""
        return self.exact.numerator // self.exact.denominator

    @property
    def advertised(self) -> str:
        """What the wei are for: a second, a pixel or a request."""
        return ADVERTISED[self.unit]

    @property
    def prepaid(self) -> int:
        """What a signer pays in advance, in wei."""
        return self.wei * PREPAID[self.unit]

    @property
    def ticket_ev_needed(self) -> int:
        """The lowest value of a ticket, in wei, that keeps within a signer's limit of tickets."""
        return -(-self.prepaid // SIGNED_NONCES)


def usd(price: RunnerPrice, rates: Mapping[str, Wei]) -> Decimal | None:
    """The price in USD for one of the node's units, as its file has it; None for ether without a rate.

    A price in ether seldom has an end in USD: then it is cut after twelve digits, so it is never above the spec's.
    """
    amount = _EXACT.multiply(price.amount, price.sold_by.times)
    if price.currency == "USD":
        return canonical_number(amount)
    rate = rates.get("USD")
    if rate is None:
        return None
    return canonical_number(_WRITTEN.divide(_EXACT.multiply(amount, WEI_IN_ETHER), Decimal(rate.wei)))


def times(amount: Decimal, count: Decimal) -> Decimal:
    """An amount so many times, exactly."""
    return canonical_number(_EXACT.multiply(amount, count))


def worth(price: RunnerPrice, rates: Mapping[str, Wei]) -> RunnerWorth | None:
    """What the node makes of the price at the rate of the spec; None without one."""
    amount, rate = usd(price, rates), rates.get("USD")
    return None if amount is None or rate is None else converted(Fraction(amount), price.sold_by.node, rate.wei)


def converted(amount: Fraction, unit: str, usd_in_wei: int | Fraction) -> RunnerWorth:
    """An amount of USD for one of the node's units, at what one USD is worth in wei."""
    exact = amount / PARTS[unit] * usd_in_wei
    refusal = TOO_SMALL if exact < 1 else TOO_LARGE if exact >= MOST_WEI + 1 else ""
    return RunnerWorth(unit, exact, refusal)


def dearest(unit: str, ticket_ev: int, usd_in_wei: int) -> Fraction:
    """The highest price in USD for one of the node's units that a signer can prepay with tickets of this value."""
    return Fraction(SIGNED_NONCES * ticket_ev // PREPAID[unit]) * PARTS[unit] / usd_in_wei


def lowest(unit: str, usd_in_wei: int) -> Fraction:
    """The lowest price in USD of one node unit that is a whole wei."""
    return Fraction(PARTS[unit], usd_in_wei)


def highest(unit: str, usd_in_wei: int) -> Fraction:
    """The highest price in USD for one of the node's units that the node can count."""
    return Fraction(MOST_WEI * PARTS[unit], usd_in_wei)


def quoted(price: RunnerPrice, amount: Fraction, usd_in_wei: int, *, up: bool = False) -> str:
    """An amount of USD for one of the node's units, in the currency and the unit of a price, with six digits.

    It is cut, or rounded `up`; "" where that leaves nothing.
    """
    own = amount / price.sold_by.times
    if price.currency != "USD":
        own = own * usd_in_wei / WEI_IN_ETHER
    digits = Context(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    cut = digits.divide(Decimal(own.numerator), Decimal(own.denominator))
    return f"{canonical_number(cut):f} {price.currency} / {price.unit}" if cut else ""
