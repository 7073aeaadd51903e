"""Prices as rows of `FLEET.md`.

In: a service. Out: rows for the template with their origins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.blueprint.blueprint import Service
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.templates import Encoded, Word
from fleetc.places.origin import Origin


class PriceRow(NamedTuple):
    """One price; `way` is pays or asks."""

    node: Encoded
    way: Word
    work: Encoded
    price: Encoded


def price_rows(service: Service) -> Iterator[tuple[PriceRow, tuple[Origin, ...]]]:
    """What a gateway pays at most and what an orchestrator asks."""
    for line in service.prices:
        way = word("pays" if line.pays else "asks")
        yield PriceRow(cell(service.name), way, cell(line.work), cell(line.price)), (line.origin,)
