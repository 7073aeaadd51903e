"""A mistyped unit is never taken for another one: a repair is certain, or it is a question."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from fleetc.fixes import repair
from fleetc.language.quantities import (
    QuantityError,
    parse_bytes,
    parse_duration,
    parse_price,
    parse_throughput,
    parse_wei,
    respelled,
)
from fleetc.language.quantities.amounts import BYTE_UNITS, ETH_UNITS, PIXEL_UNITS
from fleetc.toml.document import Source
from tests.support import check_text
from tests.test_fixes import BASE, OVERLAY

NUMBER = "50017"
"""A number that stands in no help line on its own account: what shows it proposes something for this text."""
_PIXELS = [*PIXEL_UNITS, *(f"{unit}s" for unit in PIXEL_UNITS)]
TEXTS: dict[Callable[[object], object], list[str]] = {
    parse_price: [f"{NUMBER} {money} / {pixels}" for money in (*ETH_UNITS, "USD") for pixels in _PIXELS]
    + [f"{NUMBER} {money} / 3 {pixels}" for money in (*ETH_UNITS, "USD") for pixels in _PIXELS],
    parse_wei: [f"{NUMBER} {unit}" for unit in ETH_UNITS],
    parse_throughput: [f"{NUMBER} {unit} / s" for unit in _PIXELS],
    parse_bytes: [f"{NUMBER} {unit}" for unit in BYTE_UNITS],
    parse_duration: [f"{NUMBER} {unit}" for unit in ("h", "min", "s", "ms", "us", "µs")]
    + [f"{NUMBER}{unit}" for unit in ("h", "m", "s", "ms", "us", "µs")],
}
CASES = 2000


@cache
def _errors(text: str) -> list[str]:
    """Every text that one slip in a letter of the units makes of this one: all are tried where there are few."""
    found: set[str] = set()
    for place in range(len(NUMBER) + text.startswith(" ", len(NUMBER)), len(text) + 1):
        for letter in string.ascii_letters + "µ":
            found.add(text[:place] + letter + text[place:])
            found.add(text[:place] + letter + text[place + 1 :])
        found.add(text[:place] + " " + text[place:])
        found.add(text[:place] + text[place + 1 :])
        found.add(text[:place] + text[place : place + 1].swapcase() + text[place + 1 :])
        found.add(text[:place] + text[place : place + 2][::-1] + text[place + 2 :])
    return sorted(found - {text})


def _slips(count: int) -> Iterator[tuple[Callable[[object], object], str, str]]:
    """Parser, text and the text with a slip, evenly over the parsers."""
    chance = random.Random(20250101)  # no secret
    parsers = list(TEXTS)
    for number in range(count):
        parse = parsers[number % len(parsers)]
        text = chance.choice(TEXTS[parse])
        yield parse, text, chance.choice(_errors(text))


def _proposed(problem: QuantityError) -> list[str]:
    """The texts that a help line proposes for this very text: those with its number in them."""
    return [text for text in re.findall(r'"([^"]*)"', problem.help) if NUMBER in text]


def _names_another(parse: Callable[[object], object], text: str, slip: str) -> bool:
    """Whether a slip is another unit's own name in capitals or not: "Gwei" says gwei, whatever was meant."""
    money = parse in (parse_price, parse_wei, parse_throughput)
    return money and any(slip.lower() == other.lower() and parse(other) != parse(text) for other in TEXTS[parse])


def _judge(parse: Callable[[object], object], text: str, slip: str) -> str:
    """What became of a slip: read, asked, proposed or repaired. Fails where it became something else than was meant."""
    meant = parse(text)
    if _names_another(parse, text, slip):
        return "read"
    try:
        parse(slip)
    except QuantityError as problem:
        repaired = respelled(parse, slip)
        if repaired:
            assert parse(repaired) == meant, f"{slip!r} for {text!r} is repaired to {repaired!r}"
        proposed = _proposed(problem)
        values = {str(parse(one)) for one in proposed}  # and none is a text that would be refused
        assert values <= {str(meant)} or len(values) > 1, f"{slip!r} for {text!r}: {problem.help}"
        return "repaired" if repaired else "proposed" if proposed else "asked"
    return "read"


def test_no_slip_in_a_unit_is_repaired_or_answered_with_another_unit() -> None:
    seen = {"read": 0, "asked": 0, "proposed": 0, "repaired": 0}
    for parse, text, slip in _slips(CASES):
        seen[_judge(parse, text, slip)] += 1
    assert sum(seen.values()) == CASES
    assert min(seen.values()) > 20, seen  # all four happen, or nothing was tried


@pytest.mark.parametrize("parse", [parse_wei, parse_bytes, parse_duration], ids=lambda parse: parse.__name__)
def test_no_slip_at_all_in_a_short_unit(parse: Callable[[object], object]) -> None:
    for text in TEXTS[parse]:
        for slip in _errors(text):
            _judge(parse, text, slip)


@pytest.mark.parametrize(
    ("parse", "text", "help_line"),
    [
        (parse_wei, "50000 gwe", 'did you mean "50000 gwei"?'),
        (parse_wei, "0.5 gweis", 'did you mean "0.5 gwei"?'),
        (parse_wei, "300 mETH", "units are wei, gwei and ETH"),
        (parse_wei, "3 kwei", "units are wei, gwei and ETH"),
        (parse_wei, "3 wwei", "units are wei, gwei and ETH"),
        (parse_wei, "2 bitcoin", "units are wei, gwei and ETH"),
        (parse_wei, "1 Ether", 'write "1 ETH"'),
        (parse_price, "1200 wie / pixel", 'did you mean "1200 wei / pixel"?'),
        (parse_price, "1200 wei / pixle", 'did you mean "1200 wei / pixel"?'),
        (parse_price, "1200 wei / Mpixel", "pixel units are pixel, megapixel, gigapixel"),
        (parse_price, "0.41 USD", "the number of pixels"),
        (parse_duration, "5 m", '"5 min" or "5 ms"'),
        (parse_duration, "24 d", "units are h, min, s, ms and us"),
        (parse_duration, "2 days", '"48 h"'),
        (parse_bytes, "24 GiiB", 'did you mean "24 GiB"?'),
        (parse_bytes, "24 Gb", "units are TiB, GiB, MiB, KiB, TB, GB, MB, kB and B"),
        (parse_bytes, "24 Gi", "units are TiB, GiB, MiB, KiB, TB, GB, MB, kB and B"),
        (parse_throughput, "2 gigapixel / s", None),
        (parse_throughput, "2 gigapixls / s", 'did you mean "2 gigapixels / s"?'),
    ],
)
def test_what_is_asked(parse: Callable[[object], object], text: str, help_line: str | None) -> None:
    if help_line is None:
        parse(text)
        return
    with pytest.raises(QuantityError) as caught:
        parse(text)
    assert help_line in caught.value.help


FIELDS = [
    ("wallets.payer.deposit", 'payer.deposit = "0.5 ETH"', "0.5 ETH"),
    ("gateways.gate.max_price", 'max_price = "1500 wei / pixel"', "1500 wei / pixel"),
    ("orchestrators.orch.price", '\nprice = "1200 wei / pixel"', "1200 wei / pixel"),
    ("models.realvis.memory", 'memory = "4 GiB"', "4 GiB"),
    ("gateways.gate.selection.timeout", 'selection.timeout = "5 s"', "5 s"),
]


@pytest.mark.parametrize(("line", "value"), [(line, value) for _, line, value in FIELDS], ids=[f for f, _, _ in FIELDS])
def test_check_fix_writes_what_was_meant_or_nothing(line: str, value: str) -> None:
    """The same through the whole of `check --fix`: what it writes is in the end the value that stood there."""
    chance = random.Random(line)  # no secret
    base, overlay = Source("fleet.toml", BASE), Source("over.toml", OVERLAY)
    number, _, unit = value.partition(" ")
    assert line in BASE + OVERLAY
    for _ in range(25):
        slip = chance.choice(_errors(f"{NUMBER} {unit}")).replace(NUMBER, number)
        wrong = line.replace(value, slip)
        sources = [Source(s.name, s.text.replace(line, wrong)) for s in (base, overlay)]
        found = repair(sources)
        for before, after, right in zip(sources, found.sources, (base, overlay), strict=True):
            same = re.sub(r'" *(?=\n)', '"', after.text)
            assert after.text == before.text or same == re.sub(r'" *(?=\n)', '"', right.text), f"{wrong} became another"


def test_a_word_that_is_no_unit_is_never_written() -> None:
    text = BASE + OVERLAY.replace("1200 wei / pixel", "1200 wie / pixel")
    assert "WIE" not in check_text(text)
    assert repair([Source("fleet.toml", text)]).sources[0].text == text


def test_an_address_with_a_wrong_checksum_is_not_made_valid() -> None:
    """Another spelling of a mistyped address is an address of nobody."""
    right = "0x52908400098527886E0F7030069857D2E4169EE7"
    wrong = "0x52908400098527886E0F7030069857d2E4169EE7"
    shown = check_text(BASE.replace("0x2222222222222222222222222222222222222222", wrong) + OVERLAY)
    assert "checksum" in shown
    assert right not in shown
