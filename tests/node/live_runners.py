"""The node's reading of a list of live runners: which document it takes, and what a price comes to.

In: the text of a document. Out: what it says when it refuses one, or None. An account of the node of its own, held
against what the node's own functions said (`tests/data/live_runners.json`).
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from tests.node.values import trim

UNITS = ("hour", "720p", "fixed")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_TEXTS = ("label", "routing", "runner_url", "health_url", "app", "metadata", "version", "mode")


class UndecodedError(ValueError):
    """The decoder gives up before anything is checked."""


def refusal(text: str, on_chain: bool) -> str | None:
    """What the node says about a document, None where it takes it; "json" for an error of its decoder."""
    try:
        entries = _decoded(text)
        for at, entry in enumerate(entries):
            problem = _entry(entry, on_chain)
            if problem:
                return f"runners[{at}]: {problem}"
        labels = [entry["label"] for entry in entries]
        for at, label in enumerate(labels):
            if label in labels[:at]:
                return f'runners[{at}]: duplicate label "{label}"'
    except UndecodedError:
        return "json"
    return None


def _decoded(text: str) -> list[dict[str, Any]]:
    try:
        document = json.loads(text, parse_float=Decimal)
    except ValueError:
        raise UndecodedError from None
    if document is None:
        return []
    if not isinstance(document, dict):
        raise UndecodedError
    entries = {key.lower(): value for key, value in document.items()}.get("runners") or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UndecodedError
    return [_typed({key.lower(): value for key, value in entry.items()}) for entry in entries]


def _typed(entry: dict[str, Any]) -> dict[str, Any]:
    for key in _TEXTS:
        if not isinstance(entry.setdefault(key, "") or "", str):
            raise UndecodedError
        entry[key] = entry[key] or ""
    for key in ("healthy_status_code", "capacity"):
        if type(entry.setdefault(key, 0)) is not int:
            raise UndecodedError
    if type(entry.get("proxy", False)) is not bool:
        raise UndecodedError
    _gpu(entry.get("gpu"))
    price = entry.get("price_info")
    if price is not None:
        if not isinstance(price, dict):
            raise UndecodedError
        if "price" in price and not _is_number(price["price"]):
            raise UndecodedError
    return entry


def _gpu(gpu: object) -> None:
    if gpu is None or type(gpu) is int:
        return
    if not isinstance(gpu, dict) or not all(isinstance(gpu.get(key, ""), str) for key in ("id", "name")):
        raise UndecodedError
    if type(gpu.get("vram_mb", 0)) is not int:
        raise UndecodedError


def _is_number(value: object) -> bool:
    plain = type(value) is int or isinstance(value, Decimal)
    return plain or (isinstance(value, str) and bool(_NUMBER.fullmatch(value)))


def _entry(entry: dict[str, Any], on_chain: bool) -> str:
    return _name(entry) or _place(entry) or _kind(entry) or (_price(entry.get("price_info")) if on_chain else "")


def _name(entry: dict[str, Any]) -> str:
    label, routing = entry["label"], trim(entry["routing"]) or "runner-id"
    if not label or trim(label) != label:
        return "label is required and must be trimmed"
    if routing not in ("runner-id", "label"):
        return 'routing must be "runner-id" or "label"'
    if routing == "label" and "/" in label:
        return 'label cannot contain / when routing is "label"'
    return ""


def _place(entry: dict[str, Any]) -> str:
    if not _is_absolute(entry["runner_url"]):
        return "invalid runner_url"
    health = entry["health_url"]
    if not health:
        return "health_url is required"
    if not health.startswith("/") and not _is_absolute(health):
        return "invalid health_url"
    status = entry["healthy_status_code"]
    return "" if status == 0 or 100 <= status <= 599 else "healthy_status_code must be a valid HTTP status code"


def _is_absolute(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _kind(entry: dict[str, Any]) -> str:
    if not entry["app"] or trim(entry["app"]) != entry["app"]:
        return "app must be trimmed"
    if len(entry["metadata"].encode()) > 1024 or "\ufffd" in entry["metadata"]:
        return "metadata"
    if entry["mode"] not in ("", "persistent", "single-shot", "single_shot"):
        return 'mode must be "persistent" or "single-shot"'
    return "capacity must be >= 0" if entry["capacity"] < 0 else ""


def _price(price: dict[str, Any] | None) -> str:
    if price is None or "price" not in price:
        return "price_info.price is required"
    if Decimal(str(price["price"])) <= 0:
        return "price_info.price must be a positive decimal"
    if (trim(price.get("currency", "")).lower() or "usd") != "usd":
        return "price_info.currency must be usd"
    unit = trim(price.get("unit", "")).lower() or "hour"
    return "" if unit in UNITS else "price_info.unit must be hour, 720p, or fixed"
