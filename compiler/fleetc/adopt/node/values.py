"""Turns the text of a flag into the value that a spec has for it: the rows of `language/rows.py`, read backwards.

In: a row and a text. Out: the value whose field, written by `rows.written`, says the same to the node; or None where no
value does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from fleetc.adopt.node.flags import value_of
from fleetc.language.fleet import Fleet
from fleetc.language.host import FleetSettings
from fleetc.language.quantities import Duration, Price, QuantityError, Wei
from fleetc.language.rows import ROWS, Row, written
from fleetc.language.secret_fields import SecretRef
from fleetc.upstream import FLAGS


@cache
def model_of(table: str) -> type[BaseModel]:
    """The type of a table's members."""
    model: type[BaseModel] = get_args(Fleet.model_fields[table].annotation)[1]
    return model


@cache
def rows_of(table: str) -> dict[str, Row]:
    """The rows of a node table by flag."""
    return {row.flag: row for row in ROWS if row.table == table}


@cache
def _adapter(table: str, parts: tuple[str, ...]) -> TypeAdapter[Any]:
    model: Any = model_of(table)
    for part in parts[:-1]:
        kinds = [model.model_fields[part].annotation, *get_args(model.model_fields[part].annotation)]
        model = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
    field = model.model_fields[parts[-1]]
    annotation: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return TypeAdapter(annotation)


def mean_same(table: str, parts: tuple[str, ...], one: Any, other: Any) -> bool:
    """Whether two values of a place below a table, such as texts of one price, are the same as the language reads them.

    False where it reads either of them not at all.
    """
    kind = _type_at(FleetSettings if table == "fleet" else model_of(table), parts)
    if kind is None:
        return False
    try:
        read = [TypeAdapter(kind).validate_python(value) for value in (one, other)]
    except (ValidationError, QuantityError, ValueError):
        return False
    return bool(_worth(read[0]) == _worth(read[1]))


def _type_at(kind: Any, parts: tuple[str, ...]) -> Any:
    """The type of what is so far below a value of a type; None where nothing can be there."""
    for part in parts:
        kinds = [*_alternatives(kind)]
        model = next((one for one in kinds if isinstance(one, type) and issubclass(one, BaseModel)), None)
        if model is not None and part in model.model_fields:
            field = model.model_fields[part]
            kind = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
            continue
        of_map = next((one for one in kinds if get_origin(one) is dict), None)
        if of_map is None:
            return None
        kind = get_args(of_map)[1]
    return kind


def _alternatives(kind: Any) -> Iterator[Any]:
    """A type and all that it may stand for."""
    yield kind
    if get_origin(kind) in (Annotated, Union, UnionType):
        for one in get_args(kind):
            yield from _alternatives(one)


def _worth(value: Any) -> Any:
    """A value that the language has read, with prices as what they are worth for a pixel."""
    if isinstance(value, Price):
        return value.currency, value.per_pixel
    if isinstance(value, Mapping):
        return {key: _worth(item) for key, item in value.items()}
    return [_worth(item) for item in value] if isinstance(value, list | tuple) else value


@cache
def takes_secret(row: Row) -> bool:
    """Whether the field of a row takes a reference to a secret."""
    try:
        return isinstance(_adapter(row.table, row.parts).validate_python({"env": "NAME"}), SecretRef)
    except ValidationError:
        return False


@cache
def takes_text(row: Row, text: str) -> bool:
    """Whether the field of a row takes this text as it is."""
    return _read(row, text) is not None


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
        own = first["type"] not in _PLAIN_FAULTS
        return str(first["msg"]).partition(";")[0] if own else "it is none that this field has"
    return "it is none that this field has"


_PLAIN_FAULTS = ("int_type", "bool_type", "string_type", "list_type", "literal_error", "dict_type", "float_type")


def _read(row: Row, value: Any) -> Any:
    try:
        return _adapter(row.table, row.parts).validate_python(value)
    except (ValidationError, QuantityError, ValueError):
        return None


def _candidates(kind: str, text: str) -> Iterator[Any]:
    """What a person would write for a text, the best form first."""
    if kind == "bool":
        yield value_of("bool", text)
        return
    if kind in ("int", "int64"):
        number = value_of(kind, text)
        assert isinstance(number, int)  # noqa: S101  # that is what the type says
        yield number
        yield f"{number}s"
        if number >= 0:
            yield str(Wei(number))
        return
    if kind == "duration":
        nanoseconds = value_of(kind, text)
        assert isinstance(nanoseconds, int)  # noqa: S101  # that is what the type says
        if nanoseconds >= 0 and nanoseconds % 1000 == 0:
            yield short_duration(Duration(nanoseconds // 1000))
        return
    if text.isascii() and text.isdigit():
        yield int(text)
        yield str(Wei(int(text))) if int(text) < 2**256 else text
    yield text
    items = [item.strip() for item in text.split(",")]
    yield [item for item in items if item]
    yield text.strip()


def short_duration(duration: Duration) -> str:
    """A duration without the parts that are zero: "1h" for "1h0m0s"."""
    text = str(duration)
    if "m" in text and text.endswith("m0s"):
        text = text.removesuffix("0s")
    return text.removesuffix("0m") if text.endswith("h0m") else text


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
    kind = FLAGS[flag].type if flag in FLAGS else ""
    if kind == "bool":
        return value_of("bool", text) is True
    if kind in ("int", "int64"):
        number = value_of(kind, text)
        return number if isinstance(number, int) else text
    return text
