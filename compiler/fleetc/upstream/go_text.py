"""The little of Go's grammar that `refresh.py` needs: comments, argument lists, and constant expressions.

In: Go text. Out: the text without comments, the arguments of a call as text, and constants in the form of the table.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction

Value = str | int | bool

_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|`[^`]*`|'(?:\\.|[^'\\\n])*'|//[^\n]*|/\*.*?\*/", re.DOTALL)
_UNITS = {
    "time.Nanosecond": 1,
    "time.Microsecond": 10**3,
    "time.Millisecond": 10**6,
    "time.Second": 10**9,
    "time.Minute": 60 * 10**9,
    "time.Hour": 3600 * 10**9,
}
_OPEN, _CLOSE = "([{", ")]}"


def without_comments(text: str) -> str:
    """The text with a space, and its line ends, for every comment; what looks like one inside a string stays."""

    def kept(found: re.Match[str]) -> str:
        return " " + "\n" * found[0].count("\n") if found[0].startswith(("//", "/*")) else found[0]

    return _TOKEN.sub(kept, text)


def arguments(text: str, start: int) -> list[str]:
    """The arguments of a call with its parenthesis just before `start`; [] if it never closes."""
    return split(text, start)[0]


def operands(expression: str) -> list[str]:
    """The parts of a sum; one if it is none."""
    return split(f"{expression})", 0, "+")[0]


def split(text: str, start: int, separator: str = ",") -> tuple[list[str], int]:
    """The parts up to the parenthesis that closes, and the place behind it; ([], 0) if it never does."""
    found, depth, place, first = [], 0, start, start
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token:
            place = token.end()
            continue
        char = text[place]
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE and depth:
            depth -= 1
        elif char in _CLOSE or (char == separator and not depth):
            found.append(text[first:place].strip())
            first = place + 1
            if char in _CLOSE:
                return [word for word in found if word], first
        place += 1
    return [], 0


def string_literal(expression: str) -> str | None:
    """The text of a string literal, quoted or raw; None for anything else."""
    if re.fullmatch("`[^`]*`", expression):
        return expression[1:-1]
    if not re.fullmatch(r'"(?:\\.|[^"\\\n])*"', expression):
        return None
    try:
        text = json.loads(expression)  # the escapes that flags use are JSON's too
    except ValueError:
        return None
    return text if isinstance(text, str) else None


def evaluate(kind: str, expression: str) -> Value | None:
    """A constant expression as the table writes a default of that type; None if unknown to this reader.

    Floats are texts, and durations are written as Go prints them: "25m0s".
    """
    expression = expression.strip()
    if kind == "string":
        number = re.fullmatch(r"strconv\.Itoa\((-?[0-9]+)\)", expression)
        return number[1] if number else string_literal(expression)
    if kind == "bool":
        return {"true": True, "false": False}.get(expression)
    if kind == "duration":
        return _duration(expression)
    number = re.fullmatch(r"-?[0-9][0-9_]*(\.[0-9]+)?", expression)
    if not number:
        return None
    plain = expression.replace("_", "")
    if kind == "float":
        return str(float(plain))
    return None if number[1] else int(plain)


def _duration(expression: str) -> str | None:
    total = 1
    for factor in (part.strip() for part in expression.split("*")):
        count = re.fullmatch(r"(?:time\.Duration\()?([0-9]+)\)?", factor)
        if count:
            total *= int(count[1])
        elif factor in _UNITS:
            total *= _UNITS[factor]
        else:
            return None
    return go_duration(total)


def go_duration(nanoseconds: int) -> str:
    """A duration as Go's time.Duration prints it: "500ms", "2s", "25m0s", "1h0m0s"."""
    for unit, size in (("ns", 1), ("µs", 10**3), ("ms", 10**6)):
        if 0 < nanoseconds < size * 1000:
            return _decimal(Fraction(nanoseconds, size)) + unit
    minutes, rest = divmod(nanoseconds, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}h" if hours else ""
    text += f"{minutes}m" if hours or minutes else ""
    return f"{text}{_decimal(Fraction(rest, 10**9))}s"


def _decimal(value: Fraction) -> str:
    whole, rest = divmod(value, 1)
    digits = f"{int(rest * 10**9):09}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
