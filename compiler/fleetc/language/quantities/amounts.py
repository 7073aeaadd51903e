"""Amounts with units, exact: prices, ether, bytes, durations. No floats, no rounding.

In: text as written in a spec. Out: frozen values whose `str` is canonical and parses to the same value.
Called through the package, by the model for every such field, and by rules and lowering.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from fleetc.language.quantities.text import QuantityError, need_text, shown
from fleetc.language.quantities.units import listed, near_unit

_NUMBER = r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
_INTEGER = r"(?:0|[1-9][0-9]*)"

# ------------------------------------------------------------------------------------------------------ money

ETH_UNITS: Mapping[str, int] = {"wei": 0, "gwei": 9, "ETH": 18}
"""Decimal places between an ether unit and wei."""
PIXEL_UNITS: Mapping[str, int] = {"pixel": 1, "megapixel": 10**6, "gigapixel": 10**9, "terapixel": 10**12}
"""Pixels in one unit of a price; each name also has a plural."""
MAX_UINT256 = 2**256 - 1
_MAX_DIGITS = 78
_MAX_PIXELS = 2**63 - 1
_PRICE_EXAMPLE = "1200 wei / pixel"
_CURRENCY = re.compile(r"[A-Z][A-Z0-9]{1,9}")
_NO_CURRENCIES = ("ETH", "GWEI", "WEI")
MONEY_WORDS: Mapping[str, str] = {"wei": "wei", "gwei": "gwei", "eth": "ETH", "ether": "ETH"}
"""Names of ether units in any case. USD is the only built-in currency of a node."""
_PIXEL_WORDS = {name: count for unit, count in PIXEL_UNITS.items() for name in (unit, f"{unit}s")}
_ASK_PIXELS = f"pixel units are {', '.join(PIXEL_UNITS)} and their plurals"
_PRICE = re.compile(rf"({_NUMBER}) ([A-Za-z][A-Za-z0-9]*) ?/ ?(?:({_INTEGER}) )?([A-Za-z]+)")
_AMOUNT = re.compile(rf"({_NUMBER}) ([A-Za-z]+)")
_LOAD = re.compile(rf"({_NUMBER}) ([A-Za-z]+) ?/ ?s")
_LOAD_EXAMPLE = "2000000000 pixels / s"


ANY_PRICE = "any price"
"""Words for a node that pays any price."""


def price_in_words(pays: bool, amount: str) -> str:
    """What a node does with a price, as the start of a sentence: "asks X", "pays at most X", "pays any price"."""
    if not pays:
        return f"asks {amount}"
    return f"pays {amount}" if amount == ANY_PRICE else f"pays at most {amount}"


@dataclass(frozen=True, slots=True)
class Price:
    """An amount for a number of pixels (or of compute units, for AI). `str` gives "1200 wei / pixel".

    `amount` is exact, finite and not negative; `currency` is "wei" or an upper-case code such as "USD", never
    a multiple of wei; `pixels` is 1 to 2^256-1. The node computes with rationals of any size, so wei may have decimals.
    Raises QuantityError when built from anything else. Prices have no order: see `compare`.
    """

    amount: Decimal
    currency: str
    pixels: int = 1

    def __post_init__(self) -> None:
        if self.currency != "wei" and (not _CURRENCY.fullmatch(self.currency) or self.currency in _NO_CURRENCIES):
            raise QuantityError(f"{shown(self.currency)} is not a currency", "use wei, gwei, ETH or a code such as USD")
        if not 1 <= self.pixels <= MAX_UINT256:
            raise QuantityError("a price is for 1 to 2^256-1 pixels", f'write it like "{_PRICE_EXAMPLE}"')
        if not self.amount.is_finite() or self.amount.is_signed() or self.amount > MAX_UINT256:
            raise QuantityError(
                "the amount of a price must be between 0 and 2^256-1", f'write it like "{_PRICE_EXAMPLE}"'
            )
        if _too_long(self.amount):
            raise QuantityError(f"a price has at most {_MAX_DIGITS} digits", "round it")

    @property
    def per_pixel(self) -> Fraction:
        """The exact amount for one pixel, in `currency`."""
        return Fraction(self.amount) / self.pixels

    @property
    def is_zero(self) -> bool:
        """True for a price of zero, which the node reads as "any price" in caps."""
        return self.amount == 0

    def compare(self, other: Price) -> int | None:
        """-1, 0 or 1 if this price is lower, equal or higher; None when the currencies differ."""
        if self.currency != other.currency:
            return None
        left, right = self.per_pixel, other.per_pixel
        return (left > right) - (left < right)

    def in_smaller_units(self) -> Iterator[Price]:
        """The same number in smaller units of ether, as wei for gwei, and per more pixels, as terapixel for pixel."""
        if self.currency == "wei":
            for places in (ETH_UNITS["gwei"], ETH_UNITS["ETH"]):
                amount = _scaled(self.amount, -places)
                if not _too_long(amount):
                    yield Price(amount, self.currency, self.pixels)
        if self.pixels in PIXEL_UNITS.values():
            for pixels in (count for count in PIXEL_UNITS.values() if count > self.pixels):
                yield Price(self.amount, self.currency, pixels)

    def __str__(self) -> str:
        per = "pixel" if self.pixels == 1 else f"{self.pixels} pixels"
        return f"{plain_number(self.amount)} {self.currency} / {per}"


@dataclass(frozen=True, slots=True)
class Wei:
    """Ether in whole wei, 0 to 2^256-1. `str` gives "0.05 ETH", "5 gwei" or "300 wei", always exact."""

    wei: int

    def __post_init__(self) -> None:
        if not 0 <= self.wei <= MAX_UINT256:
            raise QuantityError("an amount of ether must be between 0 and 2^256-1 wei", 'write it like "0.05 ETH"')

    def __str__(self) -> str:
        unit = "ETH" if self.wei >= 10**15 else "gwei" if self.wei >= 10**6 else "wei"
        return f"{plain_number(_scaled(Decimal(self.wei), -ETH_UNITS[unit]))} {unit}"


def parse_price(value: object) -> Price:
    """Read "1200 wei / pixel" or "0.41 USD / terapixel"; gwei and ETH become wei, megapixels pixels."""
    text = need_text(value, "a price", _PRICE_EXAMPLE)
    found = _PRICE.fullmatch(text)
    if found is None:
        asked = "add the number of pixels, as in" if _AMOUNT.fullmatch(text) else "write it like"
        raise QuantityError(f"{shown(text)} is not a price", f'{asked} "{_PRICE_EXAMPLE}" or "0.41 USD / terapixel"')
    number, unit, count, per = found.groups()
    if per not in _PIXEL_WORDS:
        raise QuantityError(f"{shown(per)} is not a pixel unit", _meant_price(found) or _ASK_PIXELS)
    amount = Decimal(number)
    if unit in ETH_UNITS:
        amount, unit = _scaled(amount, ETH_UNITS[unit]), "wei"
    elif unit.lower() in MONEY_WORDS or not _CURRENCY.fullmatch(unit):
        ask = f"{listed(ETH_UNITS)}, or a code in capitals such as USD"
        raise QuantityError(f"{shown(unit)} is not a currency", _meant_price(found) or ask)
    return Price(canonical_number(amount), unit, int(count or 1) * _PIXEL_WORDS[per])


def _meant_price(found: re.Match[str]) -> str:
    """The question or the advice with both units of a price; "" if either is in doubt."""
    number, unit, count, per = found.groups()
    money, pixels = _money_word(unit, {**MONEY_WORDS, "usd": "USD"}), per
    if not money and _CURRENCY.fullmatch(unit):
        money = unit
    if per not in _PIXEL_WORDS:
        pixels = per.lower() if per.lower() in _PIXEL_WORDS else near_unit(per.lower(), _PIXEL_WORDS)
    if not money or not pixels:
        return ""
    certain = unit.lower() in (*MONEY_WORDS, money.lower()) and per.lower() in _PIXEL_WORDS
    price = f'"{number} {money} / {f"{count} " if count else ""}{pixels}"'
    return f"write {price}" if certain else f"did you mean {price}?"


def _money_word(unit: str, words: Mapping[str, str]) -> str:
    """The unit of money that a word means in another case or with one typo; "" if it may mean another one."""
    return words.get(unit.lower()) or words.get(near_unit(unit.lower(), words), "")


def parse_currency(value: object) -> str:
    """Read the code of a currency other than ether, such as "USD"."""
    text = need_text(value, "a currency", "USD")
    if not _CURRENCY.fullmatch(text) or text in _NO_CURRENCIES:
        raise QuantityError(f"{shown(text)} is not a currency that can have a rate", 'write a code such as "USD"')
    return text


def parse_wei(value: object) -> Wei:
    """Read "0.05 ETH", "5 gwei" or "300 wei". Fractions of a wei are refused."""
    text = need_text(value, "an amount of ether", "0.05 ETH")
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise QuantityError(f"{shown(text)} is not an amount of ether", 'write it like "0.05 ETH" or "300 wei"')
    number, unit = found.groups()
    if unit not in ETH_UNITS:
        meant = _money_word(unit, MONEY_WORDS)
        known = f'write "{number} {meant}"' if unit.lower() in MONEY_WORDS else f'did you mean "{number} {meant}"?'
        raise QuantityError(f"{shown(unit)} is not a unit of ether", known if meant else listed(ETH_UNITS))
    return Wei(_whole(number, 10 ** ETH_UNITS[unit], text, "wei"))


def _scaled(amount: Decimal, places: int) -> Decimal:
    """The amount times 10 to a power, exactly, in any decimal context."""
    sign, digits, exponent = amount.as_tuple()
    return Decimal((sign, digits, int(exponent) + places))


def plain_number(amount: Decimal) -> str:
    """Exact digits without exponent or trailing zeros: the node reads "1e3" as the price 1 in a currency "e3"."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _too_long(amount: Decimal) -> bool:
    """Whether an amount has more digits than a price may have."""
    return amount.adjusted() < -_MAX_DIGITS or len(plain_number(amount).replace(".", "").lstrip("0")) > _MAX_DIGITS


def canonical_number(amount: Decimal) -> Decimal:
    """The same number in one spelling, so that equal prices also look equal in a repr."""
    return Decimal(plain_number(amount))


def _whole(number: str, factor: int, text: str, unit: str) -> int:
    """A decimal number times a factor, when that is an integer."""
    product = Fraction(number) * factor
    if product.denominator != 1:
        raise QuantityError(f"{shown(text)} is not a whole number of {unit}", "use a larger or rounder number")
    return product.numerator


@dataclass(frozen=True, slots=True)
class Throughput:
    """Whole pixels (or compute units, for AI) in a second, 1 to 2^63-1. `str` gives "2000000000 pixels / s"."""

    pixels: int

    def __post_init__(self) -> None:
        if not 1 <= self.pixels <= _MAX_PIXELS:
            raise QuantityError("a load must be between 1 and 2^63-1 pixels per second", f'write "{_LOAD_EXAMPLE}"')

    def __str__(self) -> str:
        return f"{self.pixels} pixels / s"


def parse_throughput(value: object) -> Throughput:
    """Read "2000000000 pixels / s" or "2 gigapixels / s". Fractions of a pixel are refused."""
    text = need_text(value, "a load", _LOAD_EXAMPLE)
    found = _LOAD.fullmatch(text)
    if found is None:
        raise QuantityError(f"{shown(text)} is not a load", f'write it like "{_LOAD_EXAMPLE}"')
    number, unit = found.groups()
    if unit not in _PIXEL_WORDS:
        near = unit.lower() if unit.lower() in _PIXEL_WORDS else near_unit(unit.lower(), _PIXEL_WORDS)
        ask = f'did you mean "{number} {near} / s"?' if near else _ASK_PIXELS
        raise QuantityError(f"{shown(unit)} is not a pixel unit", ask)
    return Throughput(_whole(number, _PIXEL_WORDS[unit], text, "pixels"))


# ------------------------------------------------------------------------------------------------------ bytes

BYTE_UNITS: Mapping[str, int] = {
    "TiB": 2**40,
    "GiB": 2**30,
    "MiB": 2**20,
    "KiB": 2**10,
    "TB": 10**12,
    "GB": 10**9,
    "MB": 10**6,
    "kB": 10**3,
    "B": 1,
}
"""Bytes in one of each unit."""
_MAX_BYTES = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Bytes:
    """A size in whole bytes, below 2^63. `str` gives the largest exact binary unit: "9 GiB", "1500 B"."""

    count: int

    def __post_init__(self) -> None:
        if not 0 <= self.count <= _MAX_BYTES:
            raise QuantityError("a size must be between 0 and 2^63-1 bytes", 'write it like "24 GiB"')

    def __str__(self) -> str:
        for unit in ("TiB", "GiB", "MiB", "KiB"):
            if self.count and self.count % BYTE_UNITS[unit] == 0:
                return f"{self.count // BYTE_UNITS[unit]} {unit}"
        return f"{self.count} B"


def parse_bytes(value: object) -> Bytes:
    """Read "9 GiB", "512 MiB" or "24 GB" (decimal units are decimal)."""
    text = need_text(value, "a size", "24 GiB")
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise QuantityError(f"{shown(text)} is not a size", f'write it like "24 GiB"; {listed(BYTE_UNITS)}')
    if found[2] not in BYTE_UNITS:  # "Gb" and "KB" mean different things to different people
        near = "" if found[2].lower() in map(str.lower, BYTE_UNITS) else near_unit(found[2], BYTE_UNITS)
        ask = f'did you mean "{found[1]} {near}"?' if near else f'write it like "24 GiB"; {listed(BYTE_UNITS)}'
        raise QuantityError(f"{shown(text)} is not a size", ask)
    return Bytes(_whole(found[1], BYTE_UNITS[found[2]], text, "bytes"))


# --------------------------------------------------------------------------------------------------- duration

_SECOND = 10**6
_TIME_UNITS: Mapping[str, int] = {
    "h": 3600 * _SECOND,
    "min": 60 * _SECOND,
    "m": 60 * _SECOND,
    "s": _SECOND,
    "ms": 1000,
    "us": 1,
    "µs": 1,
}
_SPACED_UNITS = {name: factor for name, factor in _TIME_UNITS.items() if name != "m"}
TIME_WORDS: Mapping[str, str] = {
    **dict.fromkeys(["hour", "hours", "hr", "hrs"], "h"),
    **dict.fromkeys(["minute", "minutes", "mins"], "min"),
    **dict.fromkeys(["second", "seconds", "sec", "secs"], "s"),
    **dict.fromkeys(["millisecond", "milliseconds", "msec", "msecs"], "ms"),
}
"""Units of time as people write them in full."""
TIME_UNITS = ("h", "min", "s", "ms", "us")
"""The units of time that messages and pages name."""
_ASK_TIME = listed(TIME_UNITS)
_TIME_WORDS = {word: _TIME_UNITS[unit] for word, unit in TIME_WORDS.items()}
_SPACED = re.compile(rf"({_NUMBER}) (h|min|s|ms|us|µs)")
_GO = re.compile(
    rf"(?=[0-9])(?:({_NUMBER})h)?(?:({_NUMBER})m(?!s))?(?:({_NUMBER})s)?"
    rf"(?:({_NUMBER})ms)?(?:({_NUMBER})(?:us|µs))?"
)
_GO_UNITS = ("h", "m", "s", "ms", "us")
_MAX_MICROSECONDS = (2**63 - 1) // 1000  # Go counts nanoseconds in an int64


@dataclass(frozen=True, slots=True)
class Duration:
    """A time span in whole microseconds. `str` is Go's notation, "1m30s", which the node reads as is."""

    microseconds: int

    def __post_init__(self) -> None:
        if not 0 <= self.microseconds <= _MAX_MICROSECONDS:
            raise QuantityError("a duration cannot exceed 292 years", 'write it like "30 s" or "25 min"')

    @property
    def whole_seconds(self) -> int:
        """The seconds, for settings that only take whole seconds. Raises QuantityError for a fraction."""
        seconds, rest = divmod(self.microseconds, _SECOND)
        if rest:
            raise QuantityError(f"{self} is not a whole number of seconds", "write whole seconds")
        return seconds

    def __str__(self) -> str:
        if 0 < self.microseconds < _SECOND:
            unit = "ms" if self.microseconds >= 1000 else "µs"
            return f"{_quotient(self.microseconds, _TIME_UNITS[unit])}{unit}"
        minutes, rest = divmod(self.microseconds, 60 * _SECOND)
        hours, minutes = divmod(minutes, 60)
        seconds = f"{_quotient(rest, _SECOND)}s"
        if hours:
            return f"{hours}h{minutes}m{seconds}"
        return f"{minutes}m{seconds}" if minutes else seconds


def parse_duration(value: object) -> Duration:
    """Read "500 ms", "30 s", "25 min", "1 h", or Go's "1m30s". A bare number is refused, even zero."""
    text = need_text(value, "a duration", "30 s")
    if spaced := _SPACED.fullmatch(text):
        return Duration(_whole(spaced[1], _TIME_UNITS[spaced[2]], text, "microseconds"))
    if go := _GO.fullmatch(text):
        parts = zip(go.groups(), _GO_UNITS, strict=True)
        return Duration(sum(_whole(n, _TIME_UNITS[unit], text, "microseconds") for n, unit in parts if n))
    raise QuantityError(f"{shown(text)} is not a duration", _meant_duration(text))


def _meant_duration(text: str) -> str:
    """What to write for a text that is not a duration. One letter is never read as a unit: "24 d" may be hours."""
    if re.fullmatch(_NUMBER, text):
        return f'give it a unit: "{text} s" or "{text} ms"'
    if days := re.fullmatch(rf"({_INTEGER}) ?days?", text):
        return f'write it in hours: "{int(days[1]) * 24} h"'
    if letter := re.fullmatch(rf"({_INTEGER}) ?d", text):
        return f'{_ASK_TIME}; if you mean days, write "{int(letter[1]) * 24} h"'
    found = _AMOUNT.fullmatch(text)
    if found is not None and found[2] == "m":
        return f'write "{found[1]} min" or "{found[1]} ms"'
    near = near_unit(found[2], {**_SPACED_UNITS, **_TIME_WORDS}) if found is not None else ""
    if found is not None and near:
        return f'did you mean "{found[1]} {TIME_WORDS.get(near, near)}"?'
    return f'write it like "500 ms", "30 s", "25 min" or "1m30s"; {_ASK_TIME}'


def _quotient(count: int, factor: int) -> str:
    """count / factor, a power of ten, in decimal digits."""
    return plain_number(_scaled(Decimal(count), -(len(str(factor)) - 1)))
