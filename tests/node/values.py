"""Go's ways to read booleans, integers, floats, durations and rationals from text.

In: text. Out: a value, or ValueError. Durations are whole nanoseconds, as in Go.
"""

from __future__ import annotations

import re
from fractions import Fraction

GO_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go's strings.TrimSpace takes away."""

_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_DURATION_PART = re.compile(r"(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(ns|us|µs|μs|ms|s|m|h)")
_PREFIXED = re.compile(r"0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*")
_DECIMAL = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def trim(text: str) -> str:
    """strings.TrimSpace."""
    return text.strip(GO_SPACE)


def boolean(text: str) -> bool:
    """strconv.ParseBool."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError("not a boolean")


def _sign(text: str) -> tuple[int, str]:
    if text[:1] in ("+", "-"):
        return (-1 if text[0] == "-" else 1), text[1:]
    return 1, text


def integer(text: str) -> int:
    """strconv.ParseInt with base 0: 0x, 0o, 0b and a plain leading 0 choose the base."""
    sign, digits = _sign(text)
    if not _PREFIXED.fullmatch(digits):
        raise ValueError("not an integer")
    return _within_64_bits(sign * _magnitude(digits))


def _magnitude(digits: str) -> int:
    if len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXoObB":
        return int(digits, 8)
    return int(digits, 0)


def decimal_integer(text: str) -> int:
    """strconv.Atoi: base 10 only."""
    sign, digits = _sign(text)
    if not re.fullmatch("[0-9]+", digits):
        raise ValueError("not a decimal integer")
    return _within_64_bits(sign * int(digits))


def big_integer(text: str) -> int:
    """big.Int.SetString with base 10, of any size."""
    sign, digits = _sign(text)
    if not re.fullmatch("[0-9]+", digits):
        raise ValueError("not a decimal integer")
    return sign * int(digits)


def _within_64_bits(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise ValueError("out of range")
    return value


def floating(text: str) -> float:
    """strconv.ParseFloat for decimal text, infinities and NaN."""
    _, digits = _sign(text)
    if digits.lower() not in ("inf", "infinity", "nan") and not _DECIMAL.fullmatch(digits):
        raise ValueError("not a number")
    return float(text)


def duration(text: str) -> int:
    """time.ParseDuration, in nanoseconds."""
    sign, rest = _sign(text)
    if rest == "0":
        return 0
    if not rest:
        raise ValueError("not a duration")
    total, place = 0, 0
    while place < len(rest):
        part = _DURATION_PART.match(rest, place)
        if part is None:
            raise ValueError("not a duration")
        whole, fraction, bare_fraction, unit = part.groups()
        digits = fraction or bare_fraction or ""
        total += int(whole or 0) * _UNITS[unit] + int(digits or 0) * _UNITS[unit] // 10 ** len(digits)
        place = part.end()
    return _within_64_bits(sign * total)


def rational(text: str) -> Fraction:
    """big.Rat.SetString: a fraction, a decimal number with or without exponent, or an integer with a base prefix."""
    sign, digits = _sign(text)
    over, slash, under = digits.partition("/")
    if slash:
        if not _PREFIXED.fullmatch(over) or not _PREFIXED.fullmatch(under) or _magnitude(under) == 0:
            raise ValueError("not a fraction")
        return sign * Fraction(_magnitude(over), _magnitude(under))
    if re.fullmatch("0[xXoObB].*", digits) and _PREFIXED.fullmatch(digits):
        return sign * Fraction(_magnitude(digits))
    if not _DECIMAL.fullmatch(digits) or len(digits) > 1000:
        raise ValueError("not a rational")
    _, _, exponent = digits.lower().partition("e")
    if exponent and abs(int(exponent)) > 10_000:
        raise ValueError("an exponent out of reason")
    return sign * Fraction(digits)
