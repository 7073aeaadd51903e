"""The units of fields, in words, for the JSON Schema and for every page that is made from it.

In: the units that quantities are read in. Out: annotations of fields. JSON Schema has no keyword for units, so they
stand under one of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetJsonSchemaHandler, StrictInt
from pydantic_core import CoreSchema

from fleetc.language import quantities as q

UNIT = "x-unit"
"""The keyword of the JSON Schema."""


def _either(units: Iterable[str]) -> str:
    """Units as a choice: "wei, gwei or ETH"."""
    *first, last = units
    return f"{', '.join(first)} or {last}"


PRICE = f"{', '.join(q.ETH_UNITS)} or a currency such as USD / {_either(q.PIXEL_UNITS)}"
RUNNER_LOAD = f"sessions, or requests / {_either(q.LOAD_TIMES)}"
RUNNER_PRICE = f"USD or ETH / {_either(q.RUNNER_UNITS)}"
AMOUNT = _either(q.ETH_UNITS)
LOAD = f"{_either(f'{unit}s' for unit in q.PIXEL_UNITS)} / s"
SIZE = _either(q.BYTE_UNITS)
TIME = _either(q.TIME_UNITS)


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a number that is written without one."""

    words: str

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), UNIT: self.words}


Pixels = Annotated[StrictInt, Unit("pixels")]
