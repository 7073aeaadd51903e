"""The value of a sum in a shell, such as $((6935 + gpu)), and the words of a range, such as {0..3} or $(seq 1 4).

In: text, and the values of variables. Out: a whole number or words; None for what only a running shell knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_PIECE = re.compile(r"\s*(?:([0-9]{1,18})|\$\{?([1-9])\}?|\$?\{?([A-Za-z_][A-Za-z0-9_]*)\}?|([-+*/%()]))\s*")
_RANGE = re.compile(r"(.*)\{(-?[0-9]{1,6})\.\.(-?[0-9]{1,6})\}(.*)")
_SEQ = re.compile(r"\$\(\s*seq\s+(?:-w\s+)?(?:([0-9]{1,6})\s+)?([0-9]{1,6})\s*\)")
_LONGEST = 300
MOST_WORDS = 256
"""Words of one range that are written out."""


def sum_of(text: str, value: Callable[[str], int | None]) -> int | None:
    """The number that a sum is; `value` knows those of variables."""
    pieces: list[str | int] = []
    place = 0
    while place < len(text):
        found = _PIECE.match(text, place)
        if found is None or place > _LONGEST:
            return None
        name = found[2] or found[3]
        number = int(found[1]) if found[1] else value(name) if name else None
        if number is None and not found[4]:
            return None
        pieces.append(found[4] if number is None else number)
        place = found.end()
    try:
        whole = iter([*pieces, ""])
        result, end = _added(next(whole), whole)
    except (StopIteration, ZeroDivisionError, ValueError):
        return None
    return result if end == "" and abs(result) < 10**18 else None


def _added(first: str | int, rest: Iterator[str | int]) -> tuple[int, str | int]:
    """A sum, and the piece behind it."""
    left, sign = _multiplied(first, rest)
    while sign in ("+", "-"):
        right, after = _multiplied(next(rest), rest)
        left, sign = (left + right if sign == "+" else left - right), after
    return left, sign


def _multiplied(first: str | int, rest: Iterator[str | int]) -> tuple[int, str | int]:
    left = _single(first, rest)
    sign = next(rest)
    while sign in ("*", "/", "%"):
        right = _single(next(rest), rest)
        quotient = abs(left) // abs(right) * (1 if (left < 0) is (right < 0) else -1) if sign != "*" else 0
        left = left * right if sign == "*" else quotient if sign == "/" else left - quotient * right
        sign = next(rest)
    return left, sign


def _single(piece: str | int, rest: Iterator[str | int]) -> int:
    if isinstance(piece, int):
        return piece
    if piece in ("-", "+"):
        number = _single(next(rest), rest)
        return -number if piece == "-" else number
    if piece != "(":
        raise ValueError("no number")
    number, end = _added(next(rest), rest)
    if end != ")":
        raise ValueError("a bracket is never closed")
    return number


def ranged(text: str) -> list[str] | None:
    """The words that a range in braces, or `seq`, becomes; None for any other text, and for a very long one."""
    braces, seq = _RANGE.fullmatch(text), _SEQ.fullmatch(text)
    if braces is not None:
        first, last = int(braces[2]), int(braces[3])
        before, behind = braces[1], braces[4]
    elif seq is not None:
        first, last = int(seq[1] or 1), int(seq[2])
        before = behind = ""
        if last < first:
            return []
    else:
        return None
    if abs(last - first) >= MOST_WORDS:
        return None
    step = 1 if last >= first else -1
    return [f"{before}{number}{behind}" for number in range(first, last + step, step)]
