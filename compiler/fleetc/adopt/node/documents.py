"""Reads the JSON files of the node, and their short forms: models, prices by model and by gateway, renditions.

In: text. Out: entries with exact numbers, or why the node reads none. Keys match in any case, and the node ignores
unknown ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from fleetc.adopt.found.yaml_nodes import first_document
from fleetc.adopt.node.flags import boolean
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_NOTHING = Decimal(0)


class DocumentError(Exception):
    """The node does not read a file; the message says why.

    `item` is the number of the entry that is at fault, and `place` where text is that is no JSON.
    """

    def __init__(self, message: str, place: int | None = None) -> None:
        super().__init__(message)
        self.place = place
        self.item = -1

    def span(self, source: Source) -> Span:
        """Where the fault stands in its file: the entry, or the start of the file."""
        if self.place is not None and self.place < len(source.text):
            return Span(source.name, self.place, self.place + 1)
        root = first_document(source.text, source.name)
        lists = [node.items for node in (root, *(value for _, value in root.pairs)) if len(node.items) > self.item]
        return lists[0][self.item].span(source.name) if lists and self.item >= 0 else Span(source.name, 0, 1)


class PriceEntry(NamedTuple):
    """An amount in a currency for a number of pixels."""

    amount: Decimal
    pixels: int
    currency: str


class ModelEntry(NamedTuple):
    """One entry of a list of models."""

    pipeline: str
    model_id: str
    warm: bool
    capacity: int | None = None
    url: str = ""
    token: bool = False
    optimization: tuple[tuple[str, bool | str], ...] = ()
    price: PriceEntry | None = None
    gateway: str = ""


def parsed_json(text: str) -> Any:
    """JSON with exact numbers. Raises DocumentError."""
    try:
        text.encode()
        value = json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
        if "\\u" in text:
            json.dumps(value, default=str, ensure_ascii=False).encode()  # half of a pair is no text
        return value
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, json.JSONDecodeError):
            raise DocumentError(f"it is not JSON at line {problem.lineno}", problem.pos) from None
        raise DocumentError("it is not JSON") from None


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number")


_Entry = TypeVar("_Entry")


def _each(value: Any, what: str, read: Callable[[dict[str, Any]], _Entry]) -> Iterator[_Entry]:
    """What is read of each entry of a list; a fault says which entry it is."""
    if not isinstance(value, list):
        raise DocumentError(f"it is not a list of {what}s")
    for number, item in enumerate(value):
        try:
            yield read(_object(item, f"a {what}"))
        except DocumentError as problem:
            problem.item = number
            raise


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DocumentError(f"{what} is not an object")
    return {str(key).lower(): item for key, item in value.items()}


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str | None):
        raise DocumentError(f"{key} is not text")
    return value or ""


def _number(entry: dict[str, Any], key: str) -> Decimal | None:
    if key not in entry:
        return None
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise DocumentError(f"{key} is not a number; the node refuses numbers in quotes")
    number = Decimal(value)
    if not number.is_finite() or abs(number.adjusted()) > 90:
        raise DocumentError(f"{key} is out of range")
    return number


def _price(entry: dict[str, Any], amount_key: str, pixels_key: str, base_pixels: int) -> PriceEntry | None:
    amount, pixels = _number(entry, amount_key), _number(entry, pixels_key)
    if amount is None:
        return None
    if pixels is not None and pixels > 0 and pixels != int(pixels):
        raise DocumentError(f"{pixels_key} is not a whole number")
    count = base_pixels if pixels is None or pixels <= 0 else int(pixels)
    return PriceEntry(amount, count, currency(_text(entry, "currency")))


def currency(text: str) -> str:
    """A currency as a spec has it: "wei", or capitals."""
    return "wei" if text.lower() in ("", "wei") else text.upper()


def models(text: str, base_pixels: int = 1) -> list[ModelEntry]:
    """The list of models, from a file or in the short form `pipeline:model:warm,...`."""
    if not text.lstrip().startswith(("[", "{")):
        return [_short_model(item) for item in text.split(",")]
    return list(_each(parsed_json(text), "model", lambda entry: _model(entry, base_pixels)))


def _short_model(item: str) -> ModelEntry:
    try:
        pipeline, model_id, warm, *_ = item.strip().split(":")
        return ModelEntry(pipeline, model_id, boolean(warm))
    except ValueError:
        raise DocumentError("an item of the short form is not pipeline:model:warm") from None


def _model(entry: dict[str, Any], base_pixels: int) -> ModelEntry:
    warm, capacity = entry.get("warm", False), entry.get("capacity")
    if not isinstance(warm, bool):
        raise DocumentError("warm is neither true nor false")
    if capacity is not None and type(capacity) is not int:
        raise DocumentError("capacity is not a whole number")
    flags = entry.get("optimization_flags") or {}
    if not isinstance(flags, dict) or not all(isinstance(v, bool | str) for v in flags.values()):
        raise DocumentError("optimization_flags takes true, false and text only")
    return ModelEntry(
        _text(entry, "pipeline"), _text(entry, "model_id"), warm, capacity or None, _text(entry, "url"),
        bool(entry.get("token")), tuple(sorted((str(k), v) for k, v in flags.items())),
        _price(entry, "price_per_unit", "pixels_per_unit", base_pixels), _text(entry, "gateway"),
    )  # fmt: skip


def caps(text: str, base_pixels: int = 1, base_amount: Decimal = _NOTHING) -> list[ModelEntry]:
    """The highest prices by model, with the id "default" for a pipeline. One without an amount has that of the base
    price, in its own currency; by `base_amount` 0 it has no price.
    """

    def cap(entry: dict[str, Any]) -> ModelEntry:
        amount = _number(entry, "price_per_unit")
        if amount is None or amount <= 0:
            entry = entry | {"price_per_unit": base_amount}
        price = _price(entry, "price_per_unit", "pixels_per_unit", base_pixels)
        known = price if price and price.amount > 0 else None
        return ModelEntry(_text(entry, "pipeline"), _text(entry, "model_id") or "default", False, price=known)

    return list(_each(_object(parsed_json(text), "the file").get("capabilities_prices"), "cap", cap))


def gateway_prices(text: str) -> dict[str, PriceEntry]:
    """The prices by account of a gateway."""
    value = _object(parsed_json(text), "the file")
    lists = [value.get("broadcasters") or [], value.get("gateways") or []]
    return dict(pair for items in lists for pair in _each(items, "price", _gateway_price))


def _gateway_price(entry: dict[str, Any]) -> tuple[str, PriceEntry]:
    price = _price(entry, "priceperunit", "pixelsperunit", 1)
    if price is None or _number(entry, "pixelsperunit") is None:
        raise DocumentError("an entry lacks priceperunit or pixelsperunit")
    return _text(entry, "ethaddress"), price


_RENDITION_KEYS = {
    key.lower(): key
    for key in ("name", "width", "height", "bitrate", "fps", "fpsDen", "quality", "gop", "profile", "encoder",
                "colorDepth", "chromaFormat")
}  # fmt: skip
_PROFILES = {name.lower(): name for name in ("H264Baseline", "H264Main", "H264High", "H264ConstrainedHigh")}


def renditions(text: str) -> list[dict[str, Any]]:
    """The renditions of a file, with the keys of a ladder."""
    value = parsed_json(text)
    return list(_each(value if value else None, "rendition", _rendition))


def _rendition(low: dict[str, Any]) -> dict[str, Any]:
    entry = {_RENDITION_KEYS[key]: low[key] for key in low if key in _RENDITION_KEYS and low[key] not in (None, "")}
    profile = str(entry.pop("profile", "")).lower()
    if profile in _PROFILES:
        entry["profile"] = _PROFILES[profile]
    return {"name": f"custom_{entry.get('width')}x{entry.get('height')}_{entry.get('bitrate')}"} | entry


def image_overrides(text: str) -> dict[str, Any]:
    """The runner images: default, batch by pipeline and live by model."""
    value = _object(parsed_json(text), "the text")
    for key in ("batch", "live"):
        if not isinstance(value.get(key) or {}, dict):
            raise DocumentError(f"{key} is not an object")
    return value


def runner_versions(text: str) -> list[tuple[str, str, str]]:
    """Pipeline, model id and lowest version."""
    keys = ("pipeline", "model_id", "minversion")
    return [
        (entry[0], entry[1], entry[2])
        for entry in _each(parsed_json(text), "version", lambda e: [_text(e, k) for k in keys])
    ]
