"""Reads the list of live runners that an orchestrator's -liveRunnerConfig names, with the place of every key.

In: the text of a list. Out: `Entry`s with the keys that the node takes, and a `Fault` for each that makes it refuse the
list and stop; or DocumentError. Keys match in any case, and the node ignores unknown ones.
Source: the node's own check of an entry at release v0.9.1, ai/runner/live_runner.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from fleetc.adopt.found.yaml_nodes import first_document
from fleetc.adopt.node.documents import DocumentError, parsed_json
from fleetc.adopt.node.flags import GO_SPACE
from fleetc.adopt.node.listeners import address
from fleetc.places.diagnostic import Span

FLAG = "liveRunnerConfig"
"""The flag that names a list."""
MODES = {"": "persistent", "persistent": "persistent", "single-shot": "single-shot", "single_shot": "single-shot"}
UNITS = {"": "hour", "hour": "hour", "720p": "720p hour", "fixed": "request"}
"""The unit of a spec for each of the node's."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?")


class Key(NamedTuple):
    """A value that the node takes, and its place."""

    value: Any
    span: Span


class Fault(NamedTuple):
    """Why the node refuses the whole list: the place, the key, what is wrong with it, and what to write."""

    span: Span
    key: str
    message: str
    help: str


@dataclass
class Entry:
    """One runner of a list: its keys in lower case, without those at fault; `odd` are those that the node ignores."""

    span: Span
    keys: dict[str, Key] = field(default_factory=dict)
    odd: dict[str, Span] = field(default_factory=dict)

    def value(self, key: str, default: Any) -> Any:
        """The value of a key; zero and nothing are the default."""
        return (self.keys[key].value if key in self.keys else None) or default

    def text(self, key: str) -> str:
        """A text, "" where the entry has none."""
        return str(self.value(key, ""))

    @property
    def health(self) -> str:
        """The address that the orchestrator asks, in full."""
        path = self.text("health_url")
        return f"{self.text('runner_url').rstrip('/')}{path}" if path.startswith("/") else path


def read_list(name: str, text: str, on_chain: bool) -> tuple[list[Entry], list[Fault]]:
    """The entries of a list, and why the node refuses it. Raises DocumentError where the node's decoder gives up."""
    value = parsed_json(text)
    if not isinstance(value, dict | None):
        raise DocumentError("it is not an object with a list of runners")
    entries = _lower(value or {}).get("runners") or []
    if not isinstance(entries, list) or not all(isinstance(item, dict) for item in entries):
        raise DocumentError("runners is not a list of objects")
    read, faults, labels = list[Entry](), list[Fault](), set[str]()
    for raw, (span, places) in zip(entries, _places(name, text, len(entries)), strict=True):
        entry = Entry(span)
        read.append(entry)
        for key, item in _lower(raw).items():
            if key not in _KEYS:
                entry.odd[key] = places.get(key, span)
            elif item is not None and item != "":
                entry.keys[key] = Key(item, places.get(key, span))
        for key, message, advice in _faults(entry, on_chain):
            place = entry.keys.pop(key).span if key in entry.keys else places.get(key, span)
            faults.append(Fault(place, key, message, advice))
        label = entry.text("label")
        if label in labels:
            place = entry.keys["label"].span
            faults.append(Fault(place, "label", "another entry has the same label", "rename it"))
        labels |= {label} - {""}
    return read, faults


def _lower(value: dict[Any, Any]) -> dict[str, Any]:
    return {str(key).lower(): item for key, item in value.items()}


def _places(name: str, text: str, count: int) -> list[tuple[Span, dict[str, Span]]]:
    """The place of each entry and of its keys; JSON that is no YAML has the start of the file for all of them."""
    nowhere: list[tuple[Span, dict[str, Span]]] = [(Span(name, 0, 1), {})] * count
    root = first_document(text, name)
    items = next((value.items for key, value in reversed(root.pairs) if key.text.lower() == "runners"), [])
    if len(items) != count:
        return nowhere
    return [
        (Span(name, item.start, item.start + 1), {key.text.lower(): value.span(name) for key, value in item.pairs})
        for item in items
    ]


def _text(takes: Callable[[str], bool] = lambda _: True) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and takes(value)


def _is_gpu(value: Any) -> bool:
    if not isinstance(value, dict):
        return type(value) is int
    keys = _lower(value)
    texts = all(isinstance(keys.get(key) or "", str) for key in ("id", "name"))
    return texts and type(keys.get("vram_mb") or 0) is int


_NAME = _text(lambda text: bool(text) and text == text.strip()), "a text without spaces around it"
_KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "label": _NAME, "app": _NAME, "version": (_text(), "a text"),
    "metadata": (_text(lambda text: len(text.encode()) <= 1024 and "\ufffd" not in text), "a text of 1024 bytes"),
    "runner_url": (_text(lambda text: address(text) is not None), "an address with http:// or https://"),
    "health_url": (_text(lambda text: text[:1] == "/" or address(text) is not None), 'a path or an address'),
    "mode": (_text(lambda text: text in MODES), '"persistent" or "single-shot"'),
    "routing": (_text(lambda text: text.strip(GO_SPACE) in ("", "label", "runner-id")), '"label" or "runner-id"'),
    "healthy_status_code": (lambda n: type(n) is int and (n == 0 or 100 <= n <= 599), "a status of HTTP as 200"),
    "capacity": (lambda n: type(n) is int and n >= 0, "a whole number of sessions"),
    "proxy": (lambda value: isinstance(value, bool), "true or false, without quotes"),
    "gpu": (_is_gpu, 'a number, or an object as { "id": "0", "name": "RTX 4090" }'),
    "price_info": (lambda value: isinstance(value, dict), 'an object as { "price": AMOUNT, "unit": "hour" }'),
}  # fmt: skip
"""What the node takes for each key."""


def _faults(entry: Entry, on_chain: bool) -> Iterator[tuple[str, str, str]]:
    """What the node refuses, as key, message and advice. The caller takes each of these keys out."""
    for key, (takes, what) in _KEYS.items():
        if key in entry.keys and not takes(entry.keys[key].value):
            yield key, f"{key} is not {what}", f"write {what}"
        elif key not in entry.keys and key in ("label", "app", "runner_url", "health_url"):
            yield key, f"a runner needs {key}", f"write {what}"
    if entry.text("routing").strip(GO_SPACE) == "label" and "/" in entry.text("label"):
        yield "label", "a label with / cannot be routed by label", "rename it"
    amount = _given(entry.value("price_info", {})).get("price")
    if amount is not None and price_of(amount) is None:
        yield "price_info", "its price is no number", "write a number"
    elif on_chain and quoted_price(entry) is None:
        what = "price in USD above zero, for an hour, 720p or fixed"
        yield "price_info", f"on a chain a runner needs a {what}", f"write a {what}"


def _given(value: Any) -> dict[str, Any]:
    """The keys of an object that has a value for them, in lower case."""
    return {key: item for key, item in _lower(value).items() if item is not None and item != ""}


def price_of(value: Any) -> Decimal | None:
    """An amount as the node reads it, also in quotes; None where it does not."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    text = str(value)
    number = Decimal(text) if _NUMBER.fullmatch(text) and len(text) <= 200 else None
    return number if number is not None and number.is_finite() else None


def quoted_price(entry: Entry) -> tuple[Decimal, str] | None:
    """Amount in USD and unit of a spec; None for an entry without a price that can be paid."""
    keys = _given(entry.value("price_info", {}))
    amount = price_of(keys.get("price"))
    unit, currency = (str(keys.get(key, "")).strip(GO_SPACE).lower() for key in ("unit", "currency"))
    paid = amount is not None and amount > 0 and unit in UNITS and currency in ("", "usd")
    return (amount, UNITS[unit]) if amount is not None and paid else None


def meaning(entry: Entry, on_chain: bool) -> dict[str, object]:
    """What an entry means to the node, by key, with the node's own defaults."""
    price = quoted_price(entry) if on_chain else None
    return {
        **{key: entry.text(key) for key in ("label", "app", "metadata", "version")},
        "runner_url": entry.text("runner_url").rstrip("/"),
        "health_url": entry.health,
        "healthy_status_code": entry.value("healthy_status_code", 200),
        "mode": MODES.get(entry.text("mode"), ""),
        "routing": entry.text("routing").strip(GO_SPACE) or "runner-id",
        "capacity": entry.value("capacity", 1),
        "proxy": entry.value("proxy", False),
        "gpu": gpu_text(entry),
        "price_info": "" if price is None else f"{Fraction(price[0])} USD / {price[1]}",
    }


def gpu_keys(entry: Entry) -> dict[str, Any]:
    """What clients see of a GPU: id, name and vram_mb, as far as the entry has them."""
    value = entry.keys["gpu"].value if "gpu" in entry.keys else {}
    return _given(value) if isinstance(value, dict) else {"id": str(value)}


def gpu_text(entry: Entry) -> str:
    """The same in one text, "" for an entry without one."""
    return ", ".join(f"{key} {value}" for key, value in sorted(gpu_keys(entry).items()) if value != 0)
