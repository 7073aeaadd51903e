"""Prices and loads of live runners, as people write them: "0.72 USD / hour", "0.0001 USD / request", "2.5 sessions".

In: text as written in a spec. Out: frozen values whose `str` is canonical and parses to the same value.
`analysis/runner_prices.py` decides what the node gets; here is only the unit of an amount.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from fleetc.language.quantities.amounts import canonical_number, parse_wei
from fleetc.language.quantities.text import QuantityError, need_text, shown
from fleetc.language.quantities.units import near_unit

_PRICE = re.compile(r"((?:0|[1-9][0-9]*)(?:\.[0-9]+)?) ([A-Za-z]+) ?/ ?((?:720p )?[a-z]+)")
_EXAMPLE = 'write it like "0.72 USD / hour" or "0.0001 USD / request"'
_MAX_DIGITS = 30
_LOAD = re.compile(r"((?:0|[1-9][0-9]*)(?:\.[0-9]+)?) (?:(sessions?)|requests? ?/ ?([a-z]+))")
_LOAD_EXAMPLE = 'write it like "2.5 sessions" or "200 requests / hour"'
LOAD_TIMES: Mapping[str, Fraction] = {
    "second": Fraction(1, 3600),
    "minute": Fraction(1, 60),
    "hour": Fraction(1),
    "day": Fraction(24),
}
"""What requests of a load are counted by, in hours."""


class RunnerUnit(NamedTuple):
    """What a price is for: `node` is the node's own unit, and `times` how many of ours make one of its."""

    node: str
    times: int


RUNNER_UNITS: Mapping[str, RunnerUnit] = {
    "hour": RunnerUnit("hour", 1),
    "minute": RunnerUnit("hour", 60),
    "720p hour": RunnerUnit("720p", 1),
    "720p minute": RunnerUnit("720p", 60),
    "request": RunnerUnit("fixed", 1),
    "session": RunnerUnit("fixed", 1),
}
"""Units of prices of runners. A 720p hour is an hour of 1280x720 pixels at 30 frames a second. The node charges it for
an hour of any picture. The node's word for what is paid once is fixed."""

_MEANT = {"call": "request", "fixed": "request", "hours": "hour", "h": "hour", "minutes": "minute", "min": "minute"}
WEI_IN_ETHER = 10**18
_CURRENCIES = ("USD", "wei", "gwei", "ETH")


@dataclass(frozen=True, slots=True)
class RunnerPrice:
    """An amount of USD, or of ether in wei, for one of `RUNNER_UNITS`. `str` gives "0.72 USD / hour".

    `amount` is exact, finite and above zero; `currency` is "USD" or "ETH". Raises QuantityError for anything else.
    """

    amount: Decimal
    currency: str
    unit: str

    def __post_init__(self) -> None:
        if self.currency not in ("USD", "ETH") or self.unit not in RUNNER_UNITS:
            raise QuantityError("this is not the price of a runner", _EXAMPLE)
        if not self.amount.is_finite() or self.amount <= 0:
            raise QuantityError("the node refuses a runner with a price of zero", "write what it costs")
        if len(self.amount.as_tuple().digits) > _MAX_DIGITS or abs(self.amount.adjusted()) > _MAX_DIGITS:
            raise QuantityError(f"the price of a runner has at most {_MAX_DIGITS} digits", "round it")

    @property
    def sold_by(self) -> RunnerUnit:
        """What the node sells it by."""
        return RUNNER_UNITS[self.unit]

    @property
    def second(self) -> Fraction:
        """What a second costs of what is sold by time: USD, or wei where the price is in ether."""
        return Fraction(self.amount) * self.sold_by.times / 3600 * (1 if self.currency == "USD" else WEI_IN_ETHER)

    def __str__(self) -> str:
        return f"{self.amount:f} {self.currency} / {self.unit}"


def parse_runner_price(value: object) -> RunnerPrice:
    """Read "0.72 USD / hour", "0.0003 ETH / hour", "0.01 USD / 720p minute" or "0.0001 USD / request"."""
    text = need_text(value, "the price of a runner", "0.72 USD / hour")
    found = _PRICE.fullmatch(text)
    if found is None:
        raise QuantityError(f"{shown(text)} is not the price of a runner", _EXAMPLE)
    number, currency, unit = found.groups()
    if unit not in RUNNER_UNITS:
        meant = _MEANT.get(unit) or near_unit(unit, RUNNER_UNITS)
        ask = f'write "{number} {currency} / {meant}"' if meant else f"units are {', '.join(RUNNER_UNITS)}"
        raise QuantityError(f"{shown(unit)} is not what the node sells runners by", ask)
    if currency in ("wei", "gwei"):
        amount = Decimal(parse_wei(f"{number} {currency}").wei).scaleb(-18)
        return RunnerPrice(canonical_number(amount), "ETH", unit)
    if currency not in _CURRENCIES:
        meant = near_unit(currency.upper(), {"USD": 0, "ETH": 0})
        ask = f'did you mean "{number} {meant} / {unit}"?' if meant else "prices of runners are in USD or ETH"
        raise QuantityError(f"the node sells runners for USD alone, and {shown(currency)} has no rate there", ask)
    return RunnerPrice(canonical_number(Decimal(number)), currency, unit)


@dataclass(frozen=True, slots=True)
class RunnerLoad:
    """The average load of a runner: open sessions, or requests in a unit of time.

    `amount` is exact and above zero; `per` is second, minute, hour or day for requests, "" for sessions. `str` gives
    "2.5 sessions" or "200 requests / hour".
    """

    amount: Decimal
    per: str

    @property
    def in_an_hour(self) -> Fraction:
        """Hours of sessions, or requests, in an hour."""
        return Fraction(self.amount) / LOAD_TIMES[self.per or "hour"]

    def __str__(self) -> str:
        s = "" if self.amount == 1 else "s"
        return f"{self.amount:f} request{s} / {self.per}" if self.per else f"{self.amount:f} session{s}"


def parse_runner_load(value: object) -> RunnerLoad:
    """Read "2.5 sessions" or "200 requests / hour"."""
    text = need_text(value, "the load of a runner", "2.5 sessions")
    found = _LOAD.fullmatch(text)
    if found is None or (found[3] and found[3] not in LOAD_TIMES):
        raise QuantityError(f"{shown(text)} is not the load of a runner", _LOAD_EXAMPLE)
    amount = Decimal(found[1])
    if not amount or len(amount.as_tuple().digits) > _MAX_DIGITS:
        raise QuantityError(f"a load is above zero and has at most {_MAX_DIGITS} digits", _LOAD_EXAMPLE)
    return RunnerLoad(canonical_number(amount), found[3] or "")
