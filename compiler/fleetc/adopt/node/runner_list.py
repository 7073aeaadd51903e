"""Reads the list of live runners that an orchestrator's -liveRunnerConfig names, with the place of every key.

In: the text of a list. Out: `Entry`s with the keys that the node takes, and a `Fault` for each that makes it refuse the
list and stop; or DocumentError. Keys match in any case, and the node passes over unknown ones.
Source: the node's own check of an entry at release v0.9.1, ai/runner/live_runner.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from fleetc.adopt.found.yaml_nodes import Node, YamlError, documents
from fleetc.adopt.node.documents import DocumentError, parsed_json
from fleetc.adopt.node.web import address
from fleetc.places.diagnostic import Span

FLAG = "liveRunnerConfig"
"""The flag that names a list."""

TEXTS = ("label", "routing", "runner_url", "health_url", "app", "metadata", "version", "mode")
COUNTS = ("healthy_status_code", "capacity")
KEYS = frozenset((*TEXTS, *COUNTS, "proxy", "gpu", "price_info"))
MODES = {"": "persistent", "persistent": "persistent", "single-shot": "single-shot", "single_shot": "single-shot"}
UNITS = {"": "hour", "hour": "hour", "720p": "720p hour", "fixed": "request"}
"""The unit of a spec for each of the node's."""

_MOST_METADATA = 1024
_GO_SPACE = "\t\n\v\f\r \x85\xa0"
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
    """One runner of a list: its keys in lower case, without those at fault; `odd` are those that it passes over."""

    span: Span
    keys: dict[str, Key] = field(default_factory=dict)
    odd: dict[str, Span] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """A text, "" where the entry has none."""
        return str(self.keys[key].value) if key in self.keys else ""

    @property
    def health(self) -> str:
        """The address that the orchestrator asks, in full."""
        said = self.text("health_url")
        return f"{self.text('runner_url').rstrip('/')}{said}" if said.startswith("/") else said


@dataclass
class RunnerList:
    """What a list says, and why the node refuses it, if it does."""

    entries: list[Entry] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def read_list(name: str, text: str, on_chain: bool) -> RunnerList:
    """Read a list. Raises DocumentError where the node's decoder gives up."""
    value = parsed_json(text)
    if value is None:
        return RunnerList()
    if not isinstance(value, dict):
        raise DocumentError("it is not an object with a list of runners")
    entries = {str(key).lower(): item for key, item in value.items()}.get("runners") or []
    if not isinstance(entries, list) or not all(isinstance(item, dict) for item in entries):
        raise DocumentError("runners is not a list of objects")
    places = _places(name, text, len(entries))
    found = RunnerList()
    labels: set[str] = set()
    for raw, (span, keys) in zip(entries, places, strict=True):
        entry = Entry(span)
        found.entries.append(entry)
        found.faults += _read(raw, keys, entry, on_chain)
        label = entry.text("label")
        if label and label in labels:
            found.faults.append(
                Fault(entry.keys["label"].span, "label", "another entry has the same label", "rename it")
            )
        labels.add(label)
    return found


def _places(name: str, text: str, count: int) -> list[tuple[Span, dict[str, Span]]]:
    """The place of each entry and of its keys; JSON that is no YAML has the start of the file for all of them."""
    nowhere: list[tuple[Span, dict[str, Span]]] = [(Span(name, 0, 1), {})] * count
    try:
        root = documents(text, name)[0]
    except (YamlError, IndexError):
        return nowhere
    items = next((value.items for key, value in reversed(root.pairs) if key.text.lower() == "runners"), [])
    if len(items) != count:
        return nowhere
    return [(_opening(item, name), {key.text.lower(): value.span(name) for key, value in item.pairs}) for item in items]


def _opening(item: Node, name: str) -> Span:
    return Span(name, item.start, item.start + 1)


def _read(raw: dict[str, Any], places: dict[str, Span], entry: Entry, on_chain: bool) -> Iterator[Fault]:
    values = {str(key).lower(): value for key, value in raw.items()}
    for key, value in values.items():
        span = places.get(key, entry.span)
        if key not in KEYS:
            entry.odd[key] = span
        elif value is not None and value != "":
            entry.keys[key] = Key(value, span)
    for check in (_types, _texts, _addresses, _choices, _price):
        for key, message, advice in check(entry, on_chain):
            place = entry.keys.pop(key).span if key in entry.keys else places.get(key, entry.span)
            yield Fault(place, key, message, advice)


_Problems = Iterator[tuple[str, str, str]]


def _types(entry: Entry, on_chain: bool) -> _Problems:
    """What the decoder of the node does not read; then it refuses the file before it looks at anything."""
    for key, (value, _) in list(entry.keys.items()):
        if key in TEXTS and not isinstance(value, str):
            yield key, f"{key} is not text", "put it into quotes"
        elif key in COUNTS and type(value) is not int:
            yield key, f"{key} is not a whole number", "write it without quotes and without a point"
        elif key == "proxy" and not isinstance(value, bool):
            yield key, "proxy is neither true nor false", "write true or false without quotes"
        elif key == "gpu" and not _is_gpu(value):
            yield key, "gpu is neither a whole number nor an object", 'write { "id": "0", "name": "RTX 4090" }'
        elif key == "price_info" and not isinstance(value, dict):
            yield key, "price_info is not an object", 'write { "price": 0.72, "unit": "hour" }'


def _is_gpu(value: Any) -> bool:
    if isinstance(value, dict):
        said = {str(key).lower(): item for key, item in value.items()}
        texts = all(isinstance(said.get(key) or "", str) for key in ("id", "name"))
        return texts and type(said.get("vram_mb") or 0) is int
    return type(value) is int


def _texts(entry: Entry, on_chain: bool) -> _Problems:
    for key in ("label", "app"):
        text = entry.text(key)
        if not text.strip():
            yield key, f"a runner needs {'a label' if key == 'label' else 'an app'}", f'write "{key}": "..."'
        elif text != text.strip():
            yield key, f"{key} has spaces around it", "remove them"
    if "metadata" in entry.keys and (
        len(entry.text("metadata").encode()) > _MOST_METADATA or "\ufffd" in entry.text("metadata")
    ):
        yield "metadata", f"metadata has more than {_MOST_METADATA} bytes, or a broken character", "shorten it"


def _addresses(entry: Entry, on_chain: bool) -> _Problems:
    if address(entry.text("runner_url")) is None:
        yield "runner_url", "runner_url is no address with http:// or https://", 'write "http://127.0.0.1:8000"'
    health = entry.text("health_url")
    if not health:
        yield "health_url", "a runner needs a health_url", 'write "health_url": "/health"'
    elif not (health.startswith("/") or address(health)):
        yield "health_url", "health_url is neither a path nor an address", 'write "/health"'


def _choices(entry: Entry, on_chain: bool) -> _Problems:
    if entry.text("mode") not in MODES:
        yield "mode", "mode is neither persistent nor single-shot", 'write "persistent" or "single-shot"'
    routing = entry.text("routing")
    if routing.strip(_GO_SPACE) not in ("", "label", "runner-id"):
        yield "routing", "routing is neither label nor runner-id", 'write "label" or "runner-id"'
    elif routing.strip(_GO_SPACE) == "label" and "/" in entry.text("label"):
        yield "label", "a label with / cannot be routed by label", "rename it"
    status = entry.keys.get("healthy_status_code")
    if status is not None and status.value != 0 and not 100 <= status.value <= 599:
        yield "healthy_status_code", "healthy_status_code is no status of HTTP", "write 200, or leave it out"
    capacity = entry.keys.get("capacity")
    if capacity is not None and capacity.value < 0:
        yield "capacity", "capacity is below zero", "write how many sessions it takes at once"


def _price(entry: Entry, on_chain: bool) -> _Problems:
    said = price_keys(entry)
    amount = said.get("price")
    if amount is not None and price_of(amount) is None:
        yield "price_info", "its price is no number", 'write { "price": 0.72, "unit": "hour" }'
    elif not on_chain:
        return
    elif amount is None:
        why = "its price is for pixels, and runners are sold by time" if "price_per_unit" in said else "it has no price"
        yield "price_info", f"on a chain a runner needs a price: {why}", 'write { "price": 0.72, "unit": "hour" }'
    elif (price_of(amount) or 0) <= 0:
        yield "price_info", "the price of a runner is not above zero", "write what it costs in USD"
    elif _word(said, "currency") not in ("", "usd"):
        yield "price_info", "the node sells runners for USD alone", 'write the price in USD, with "currency": "usd"'
    elif _word(said, "unit") not in UNITS:
        yield "price_info", "its unit is neither hour, 720p nor fixed", 'write "unit": "hour"'


def price_keys(entry: Entry) -> dict[str, Any]:
    """The keys of a price, in lower case."""
    value = entry.keys["price_info"].value if "price_info" in entry.keys else {}
    return {str(key).lower(): item for key, item in value.items() if item is not None and item != ""}


def _word(said: dict[str, Any], key: str) -> str:
    value = said.get(key, "")
    return value.strip(_GO_SPACE).lower() if isinstance(value, str) else "?"


def price_of(value: Any) -> Decimal | None:
    """An amount as the node reads it, also in quotes; None where it does not."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    text = str(value)
    if not _NUMBER.fullmatch(text) or len(text) > 200:
        return None
    number = Decimal(text)
    return number if number.is_finite() else None


def quoted_price(entry: Entry) -> tuple[Decimal, str] | None:
    """Amount in USD and unit of a spec; None for an entry without a price that can be paid."""
    said = price_keys(entry)
    amount, unit = price_of(said.get("price")), UNITS.get(_word(said, "unit"))
    if amount is None or amount <= 0 or unit is None or _word(said, "currency") not in ("", "usd"):
        return None
    return amount, unit


def meaning(entry: Entry, on_chain: bool) -> dict[str, object]:
    """What an entry means to the node, by key, with the node's own defaults."""
    price = quoted_price(entry) if on_chain else None
    return {
        **{key: entry.text(key) for key in ("label", "app", "metadata", "version")},
        "runner_url": entry.text("runner_url").rstrip("/"),
        "health_url": entry.health,
        "healthy_status_code": (entry.keys["healthy_status_code"].value if "healthy_status_code" in entry.keys else 0)
        or 200,
        "mode": MODES.get(entry.text("mode"), ""),
        "routing": entry.text("routing").strip(_GO_SPACE) or "runner-id",
        "capacity": (entry.keys["capacity"].value if "capacity" in entry.keys else 0) or 1,
        "proxy": entry.keys["proxy"].value if "proxy" in entry.keys else False,
        "gpu": gpu_text(entry),
        "price_info": "" if price is None else f"{Fraction(price[0])} USD / {price[1]}",
    }


def gpu_keys(entry: Entry) -> dict[str, Any]:
    """What clients are told of a GPU: id, name and vram_mb, as far as the entry has them."""
    value = entry.keys["gpu"].value if "gpu" in entry.keys else {}
    if not isinstance(value, dict):
        return {"id": str(value)}
    return {str(key).lower(): item for key, item in value.items() if item is not None and item != ""}


def gpu_text(entry: Entry) -> str:
    """The same in one text, "" for an entry without one."""
    return ", ".join(f"{key} {value}" for key, value in sorted(gpu_keys(entry).items()) if value != 0)
