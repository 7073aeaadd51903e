"""Other spellings of a quantity that can only mean one thing: "1200wei/pixel", "5 seconds", "2 days", "0X1111...".

In: a text that the parser of its quantity has refused. Out: the text as that parser reads it, or "" in any doubt.
Called by the model, for certain repairs. Only words of known units are rewritten. Letters of sizes are left alone,
because "24 Gb" and "24 KB" mean different things to different people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from fleetc.language.quantities.amounts import MONEY_WORDS, TIME_WORDS
from fleetc.language.quantities.text import QuantityError
from fleetc.text.typography import typed_plainly

_AMOUNT = re.compile(
    r"(?P<number>[0-9][0-9_]*(?:\.[0-9_]+)?)[ \t]*(?P<unit>[A-Za-zµ]+)"
    r"(?:(?:[ \t]*/[ \t]*|[ \t]+per[ \t]+)(?:(?P<count>[1-9][0-9_]*)[ \t]*)?(?P<per>[A-Za-z]+))?"
)
_DAYS = ("day", "days")
_HEX_ADDRESS = re.compile(r"(?:0[xX])?([0-9a-fA-F]{40})")


def respelled(parse: Callable[[str], object], text: str) -> str:
    """The first other spelling of `text` that `parse` reads; "" when it reads none of them.

    URLs are left alone: they may hold secrets, and their spelling matters to others.
    """
    if "://" in text or len(text) > 100:
        return ""
    for candidate in _candidates(typed_plainly(text).strip(" \t\"'")):
        if candidate != text:
            try:
                parse(candidate)
            except QuantityError:
                continue
            return candidate
    return ""


def _candidates(text: str) -> Iterator[str]:
    yield text
    if found := _AMOUNT.fullmatch(text):
        yield from _amounts(found)
    if found := _HEX_ADDRESS.fullmatch(text):
        yield "0x" + found[1]
    if text.startswith("[") and text.endswith("]"):
        yield text[1:-1]
    if text.endswith("."):
        yield text[:-1]


def _amounts(found: re.Match[str]) -> Iterator[str]:
    number, unit = found["number"].replace("_", ""), found["unit"]
    if found["per"]:
        count = found["count"].replace("_", "") + " " if found["count"] else ""
        per = f"{count}{found['per'].lower()}"
        money = {**MONEY_WORDS, "usd": "USD"}.get(unit.lower())
        if money is not None:  # another code may be a typo: "LETH" is not a currency that anybody named
            yield f"{number} {money} / {per}"
        return
    yield f"{number} {unit}"
    yield f"{number} {MONEY_WORDS.get(unit.lower(), unit)}"
    yield f"{number} {TIME_WORDS.get(unit.lower(), unit)}"
    if unit.lower() in _DAYS and number.isdigit():
        yield f"{int(number) * 24} h"
