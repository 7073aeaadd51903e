"""Turns the text of a flag into the value that a spec has for it: the rows of `language/rows.py`, read backwards.

In: a row and a text. Out: the value whose field, written by `rows.written`, means the same to the node; None where no
value does. Prices of flags and lists too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Context, Decimal
from functools import cache
from typing import Annotated, Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from fleetc.adopt.node.documents import PriceEntry, currency
from fleetc.adopt.node.flags import value_of
from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Duration, Price, QuantityError, Wei
from fleetc.language.rows import ROWS, Row, written
from fleetc.language.secret_fields import SecretRef
from fleetc.upstream import FLAGS


@cache
def rows_of(table: str) -> dict[str, Row]:
    """The rows of a node table by flag."""
    return {row.flag: row for row in ROWS if row.table == table}


@cache
def _adapter(table: str, parts: tuple[str, ...]) -> TypeAdapter[Any]:
    model: Any = get_args(Fleet.model_fields[table].annotation)[1]  # that of its members
    for part in parts[:-1]:
        kinds = [model.model_fields[part].annotation, *get_args(model.model_fields[part].annotation)]
        model = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
    field = model.model_fields[parts[-1]]
    annotation: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return TypeAdapter(annotation)


@cache
def takes_secret(row: Row) -> bool:
    """Whether the field of a row takes a reference to a secret."""
    return isinstance(_read(row, {"env": "NAME"}), SecretRef)


def spec_value(row: Row, text: str) -> Any:
    """The value of a row's field that stands for a text of its flag; None where none does."""
    kind = FLAGS[row.flag].type
    for value in _candidates(kind, text):
        parsed = _read(row, value)
        if parsed is not None and _same(kind, written(row.flag, parsed), text):
            return value
    return None


def why_refused(row: Row, text: str) -> str:
    """Why no field takes a text, in the words of the language."""
    try:
        _adapter(row.table, row.parts).validate_python(text)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_context=False)[0]
        if not first["type"].endswith("_type") and first["type"] != "literal_error":
            return str(first["msg"]).partition(";")[0]
    return "no value of this field means that"


def _read(row: Row, value: Any) -> Any:
    try:
        return _adapter(row.table, row.parts).validate_python(value)
    except (ValidationError, QuantityError, ValueError):
        return None


def _candidates(kind: str, text: str) -> Iterator[Any]:
    """What a person would write for a text, the best form first."""
    value: Any = value_of(kind, text)
    if kind == "bool":
        yield value
    elif kind in ("int", "int64"):
        yield from (value, f"{value}s", *([str(Wei(value))] if value >= 0 else []))
    elif kind == "duration":
        if value >= 0 and value % 1000 == 0:
            yield _short_duration(Duration(value // 1000))
    else:
        if text.isascii() and text.isdigit():
            yield int(text)
            yield str(Wei(int(text))) if int(text) < 2**256 else text
        yield text
        yield [item.strip() for item in text.split(",") if item.strip()]
        yield text.strip()


def _short_duration(duration: Duration) -> str:
    """A duration without the parts that are zero: "1h" for "1h0m0s"."""
    text = re.sub(r"(?<=m)0s$", "", str(duration))
    return re.sub(r"(?<=h)0m$", "", text)


def _same(kind: str, one: str, other: str) -> bool:
    """Whether the node reads two texts of a flag alike."""
    if one == other:
        return True
    try:
        if kind != "string":
            return value_of(kind, one) == value_of(kind, other)
    except ValueError:
        return False
    if one.isdigit() and other.isdigit():
        return int(one) == int(other)
    return (
        [item.strip() for item in one.split(",")] == [item.strip() for item in other.split(",") if item.strip()]
        or (one.lower() == other.lower() and one.startswith("0x"))
        or one.rstrip("/") == other.rstrip("/")
    )


def extra_value(flag: str, text: str) -> bool | int | str:
    """A value of `extra_flags`."""
    kind = FLAGS[flag].type
    value: Any = value_of(kind, text)
    return value if kind in ("bool", "int", "int64") else text


_LONG_COUNTS = {10**6: "megapixel", 10**9: "gigapixel", 10**12: "terapixel"}
_LONGEST_PRICE = 200
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z^_\[\]\\`][A-Za-z0-9]*)?")


def price_text(price: PriceEntry) -> str | None:
    """A price as a person writes it; None where no spec has such a price."""
    try:
        text = str(Price(price.amount if price.amount else Decimal(0), price.currency, price.pixels))
    except QuantityError:
        return None
    unit = _LONG_COUNTS.get(price.pixels)
    return text.replace(f"{price.pixels} pixels", unit) if unit else text


def flag_amount(text: str) -> Decimal | None:
    """The amount of such a text, in whatever currency it is; None for a text that the node refuses."""
    form = _AMOUNT.fullmatch(text)
    return Decimal(form[1]) if form is not None and len(text) <= _LONGEST_PRICE else None


def flag_price(text: str, pixels: int) -> PriceEntry | None:
    """The price of -pricePerUnit and -maxPricePerUnit; None for a text that the node refuses."""
    amount, unit = flag_amount(text), text.lstrip("0123456789.").lower() or "wei"
    if amount is None:
        return None
    if unit == "eth":
        return PriceEntry(amount.scaleb(18, Context(prec=400)), pixels, "wei")
    return PriceEntry(amount, pixels, currency(unit))
