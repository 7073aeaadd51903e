"""The node's JSON files: models, prices, renditions and image overrides, with the rules of Go's decoder.

In: text. Out: plain values, or ValueError where the node's parser gives up. Keys of objects match in any case, the last
of equal keys wins, unknown keys are ignored; a number stands bare, and an integer has no point and no exponent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn, TypeVar

from tests.node.addresses import split_list
from tests.node.values import boolean, rational, trim

T = TypeVar("T")

PIPELINES = {
    "text-to-image",
    "image-to-image",
    "image-to-video",
    "upscale",
    "audio-to-text",
    "llm",
    "segment-anything-2",
    "image-to-text",
    "text-to-speech",
    "live-video-to-video",
}
LIVE = "live-video-to-video"
LIVE_MODELS = {
    *("streamdiffusion", "streamdiffusion-sd15", "streamdiffusion-sd15-v2v", "streamdiffusion-sdxl"),
    *("streamdiffusion-sdxl-v2v", "streamdiffusion-sdxl-faceid", "comfyui", "segment_anything_2", "noop", "scope"),
}
PRESETS = {
    *("P720p60fps16x9", "P720p30fps16x9", "P720p25fps16x9", "P720p30fps4x3", "P576p30fps16x9", "P576p25fps16x9"),
    *("P360p30fps16x9", "P360p25fps16x9", "P360p30fps4x3", "P240p30fps16x9", "P240p25fps16x9", "P240p30fps4x3"),
    "P144p30fps16x9",
}
EMPTY_PRESETS = ("P240p30fps4x3", "P360p30fps16x9")
_PROFILES = {"", "none", "h264baseline", "h264main", "h264high", "h264constrainedhigh"}
_ENCODERS = {"", "H.264", "HEVC", "VP8", "VP9"}


class _Number(str):
    """A JSON number as written."""


class _Object(list[tuple[str, Any]]):
    """A JSON object as written."""


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def load(text: str) -> Any:
    """JSON with numbers and objects as written. Raises ValueError."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_Object,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def fields(value: Any) -> dict[str, Any]:
    """An object's values by lower-case key. Raises ValueError for anything else."""
    if not isinstance(value, _Object):
        raise ValueError("not an object")
    return {key.lower(): item for key, item in value}


def mapping(value: Any) -> dict[str, Any]:
    """An object's values by exact key; null is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, _Object):
        raise ValueError("not an object")
    return dict(value)


def _items(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list) or isinstance(value, _Object):
        raise ValueError("not an array")
    return value


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or isinstance(value, _Number):
        raise ValueError("not a string")
    return value


def _flag(value: Any) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise ValueError("not a boolean")
    return value


def _integer(value: Any) -> int:
    if value is None:
        return 0
    if not isinstance(value, _Number) or not re.fullmatch("-?[0-9]+", value):
        raise ValueError("not an integer")
    return int(value)


def _number(value: Any) -> Fraction:
    if not isinstance(value, _Number):
        raise ValueError("not a bare number")
    return rational(value)


def _optional(row: Mapping[str, Any], key: str, read: Callable[[Any], T]) -> T | None:
    return read(row[key]) if key in row else None


class ModelEntry(NamedTuple):
    """One entry of -aiModels. `price` and `pixels` are None where the entry says nothing."""

    pipeline: str
    model_id: str
    warm: bool = False
    capacity: int = 1
    url: str = ""
    token: str = ""
    optimization: tuple[tuple[str, str | bool], ...] = ()
    price: Fraction | None = None
    pixels: Fraction | None = None
    currency: str = ""
    gateway: str = "default"


class PriceEntry(NamedTuple):
    """One entry of -maxPricePerCapability (pipeline, model) or -pricePerGateway (account, "")."""

    name: str
    model_id: str
    price: Fraction | None
    pixels: Fraction | None
    currency: str


def ai_models(text: str) -> tuple[ModelEntry, ...]:
    """The file form of -aiModels."""
    return tuple(_model(fields(item)) for item in _items(load(text)))


def _model(row: dict[str, Any]) -> ModelEntry:
    switches = mapping(row.get("optimization_flags"))
    for name, value in switches.items():
        if not isinstance(value, str | bool) or isinstance(value, _Number):
            raise ValueError(f"{name} is neither text nor boolean")
    capacity = _optional(row, "capacity", _integer)
    return ModelEntry(
        pipeline=_text(row.get("pipeline")),
        model_id=_text(row.get("model_id")),
        warm=_flag(row.get("warm")),
        capacity=1 if capacity is None else capacity,
        url=_text(row.get("url")),
        token=_text(row.get("token")),
        optimization=tuple(sorted(switches.items())),
        price=_optional(row, "price_per_unit", _number),
        pixels=_optional(row, "pixels_per_unit", _number),
        currency=_text(row.get("currency")),
        gateway=_text(row.get("gateway")).lower() or "default",
    )


def inline_models(text: str) -> tuple[ModelEntry, ...]:
    """The short form of -aiModels: pipeline:model:warm, ..."""
    entries = []
    for item in text.split(","):
        parts = item.split(":")
        if len(parts) < 3:
            raise ValueError("fewer than three parts")
        entries.append(ModelEntry(trim(parts[0]), trim(parts[1]), boolean(trim(parts[2]))))
    return tuple(entries)


def capability_prices(text: str) -> tuple[PriceEntry, ...]:
    """-maxPricePerCapability."""
    return tuple(
        PriceEntry(
            _text(row.get("pipeline")),
            _text(row.get("model_id")) or "default",
            _optional(row, "price_per_unit", _number),
            _optional(row, "pixels_per_unit", _number),
            _text(row.get("currency")),
        )
        for row in map(fields, _items(fields(load(text)).get("capabilities_prices")))
    )


def gateway_prices(text: str) -> tuple[PriceEntry, ...]:
    """-pricePerGateway; the old key `broadcasters` is read first."""
    document = fields(load(text))
    return tuple(
        PriceEntry(
            _text(row.get("ethaddress")).lower(),
            "",
            _optional(row, "priceperunit", _number),
            _optional(row, "pixelsperunit", _number),
            _text(row.get("currency")),
        )
        for key in ("broadcasters", "gateways")
        for row in map(fields, _items(document.get(key)))
    )


def renditions(text: str, files: Mapping[str, str]) -> tuple[object, ...]:
    """-transcodingOptions: names of presets, or profiles from a file. Raises ValueError when nothing is left."""
    if not text:
        return EMPTY_PRESETS
    if text in files:
        found: tuple[object, ...] = tuple(_profile(fields(item)) for item in _items(load(files[text])))
    else:
        found = tuple(name for name in split_list(text) if name in PRESETS)
    if not found:
        raise ValueError("no rendition left")
    return found


def _profile(row: dict[str, Any]) -> tuple[tuple[str, object], ...]:
    numbers = {
        k: _integer(row.get(k)) for k in ("width", "height", "bitrate", "fps", "fpsden", "quality", "chromaformat")
    }
    numbers["fpsden"] = max(numbers["fpsden"], 1)
    words = {k: _text(row.get(k)) for k in ("name", "profile", "gop", "encoder")}
    if words["profile"].lower() not in _PROFILES or words["encoder"] not in _ENCODERS:
        raise ValueError("unknown profile or encoder")
    gop = words["gop"]
    if gop not in ("", "intra") and rational(gop) < 0:
        raise ValueError("a negative GOP")
    depth = _integer(row.get("colordepth"))
    if depth not in (0, 2, 4, 8):
        raise ValueError("a colour depth that does not exist")
    words["name"] = words["name"] or f"custom_{numbers['width']}x{numbers['height']}_{numbers['bitrate']}"
    words["profile"] = words["profile"].lower()
    return tuple(sorted({**numbers, **words, "colordepth": depth}.items()))


def image_overrides(text: str) -> dict[str, object]:
    """-aiRunnerImageOverrides."""
    if not text:
        return {}
    row = fields(load(text))
    parts: dict[str, object] = {
        key: {k: _text(v) for k, v in mapping(row.get(key)).items()} for key in ("batch", "live")
    }
    return {"default": _text(row.get("default")), **parts}
