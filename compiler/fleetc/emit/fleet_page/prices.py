"""Prices as rows of `FLEET.md`, out of the arguments and files of processes.

In: a service. Out: rows for the template with their origins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from fleetc.blueprint.blueprint import Service
from fleetc.emit.artifacts import argument_of, plain_decimal
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.templates import Encoded, Word
from fleetc.places.origin import Origin

_AMOUNT = re.compile(r"([0-9.]+)(.*)", re.DOTALL)


class PriceRow(NamedTuple):
    """One price; `way` is pays or asks."""

    node: Encoded
    way: Word
    work: Encoded
    price: Encoded


def price_rows(service: Service) -> Iterator[tuple[PriceRow, tuple[Origin, ...]]]:
    """What a gateway pays at most and what an orchestrator asks, from the arguments and files of the process."""
    name = cell(service.name)
    pixels = argument_of(service, "pixelsPerUnit") or "1"
    for flag, way in (("maxPricePerUnit", word("pays")), ("pricePerUnit", word("asks"))):
        argument = next((a for a in service.arguments if a.flag == flag), None)
        if argument is not None:
            value = argument.value
            price = "any price" if way == "pays" and value == "0" else _price_of_flag(value, pixels)
            yield PriceRow(name, way, cell("base price"), cell(price)), (argument.origin,)
    for file in service.files:
        content: Any = file.content
        buying = "capabilities_prices" in content
        entries = content
        below: tuple[str, ...] = ()
        if isinstance(content, dict):
            key = "capabilities_prices" if buying else "gateways"
            entries, below = content.get(key, ()), (key,)
        for index, entry in enumerate(entries):
            row = _price_of_entry(entry)
            if row is not None:
                offer = PriceRow(name, word("pays" if buying else "asks"), cell(row[0]), cell(row[1]))
                yield offer, file.origins_at((*below, index, "price_per_unit"))


def _price_of_flag(value: str, pixels: str) -> str:
    found = _AMOUNT.fullmatch(value)
    return _price_text(found[1], found[2], pixels) if found else value


def _price_of_entry(entry: dict[str, Any]) -> tuple[str, str] | None:
    """What is paid for, and the price; None for an entry without one."""
    if "ethaddress" in entry:
        amount, pixels, work = entry["priceperunit"], entry["pixelsperunit"], f"gateway {entry['ethaddress']}"
    elif "price_per_unit" in entry:
        amount, pixels = entry["price_per_unit"], entry.get("pixels_per_unit", 1)
        work = f"{entry['pipeline']} {entry['model_id']}" + (
            f" gateway {entry['gateway']}" if "gateway" in entry else ""
        )
    else:
        return None
    shown = plain_decimal(amount) if isinstance(amount, int | Decimal) else str(amount)
    return work, _price_text(shown, entry.get("currency", ""), str(pixels))


def _price_text(amount: str, currency: str, pixels: str) -> str:
    unit = "pixel" if pixels == "1" else f"{pixels} pixels"
    return f"{amount} {currency or 'wei'} / {unit}"
