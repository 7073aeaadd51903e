"""Every single change of one field of a raw spec that the language invites, seen through its JSON Schema.

In: raw tables as tomllib reads them. Out: `Mutation`s (`mutations`), a spread of them (`spread`), and the changed copy
(`Mutation.apply`). The schema comes from the fields of the model, so a new field is changed and added without a word
here; `_NASTY` and `_TEXTS` only make its values more interesting. Called by test_mutations.py.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, NamedTuple

from fleetc.language.spec import json_schema
from tests.node.parsing import node_flags

Path = tuple[str | int, ...]
Raw = dict[str, Any]
Schema = dict[str, Any]

NODES = ("gateways", "orchestrators", "transcoders", "ai_workers", "remote_signers", "redeemers", "reward_callers")
_EVE = "0x4444444444444444444444444444444444444444"

_NASTY: dict[str, tuple[str, ...]] = {
    "v0.9.1": ("v0.7.6", "v0.8.0", "v0.8.5", "v0.8.10", "v0.9.0", "v1.0.0"),
    "1200 wei / pixel": (
        "0 wei / pixel",
        "1 wei / pixel",
        "0.001 wei / pixel",
        "1 wei / 1000000000000 pixels",
        "0.000001 USD / 1000000 pixels",
        "3 EUR / pixel",
        "0.5 ETH / pixel",
        f"{2**64} wei / pixel",
        "1e3 wei / pixel",
    ),
    "0.05 ETH": ("0 ETH", "1 wei", "0.5 wei", "1000000000 ETH", "-1 wei"),
    "0.00042 ETH": ("1 wei", "0 ETH", "100 ETH"),
    "2000000000 pixels / s": ("1 pixels / s", "0 pixels / s"),
    "24 GiB": ("1 B", "0 GiB", "1000 TiB", "9 GiB"),
    "5s": ("0s", "1ms", "1 us", "0.5s", "10000h", "9999999h", "-1s"),
    "10 s": ("0s", "1ms", "1 us", "0.5s", "9999999h"),
    "20s": ("1s", "0s", "1.5s", "9000000000s"),
    "5 gwei": ("1 wei", "0 wei", "10 ETH"),
    "127.0.0.1:7935": (
        "0.0.0.0:8935",
        "0.0.0.0:1935",
        "127.0.0.1:5935",
        "[::1]:9935",
        "[::]:8935",
        "edge.example.net:4935",
        "0.0.0.0:22",
        "0.0.0.0:65535",
        "127.0.0.1:0",
        ":8935",
        "localhost:7935",
    ),
    "0x" + "1" * 40: ("0x" + "2" * 40, _EVE, "0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612", "0x0"),
    "203.0.113.10": ("203.0.113.20", "127.0.0.1", "localhost", "2001:db8::7", "new.example.net", "a b"),
    "0.3": ("0", "1", "0.333333", "0.9999", "2"),
    "https://example.net/hook": (
        "http://127.0.0.1:9000",
        "https://[2001:db8::7]:8443/a?b=c&d=$HOME",
        "ftp://a.example",
    ),
    "https://rpc.example.net": ("http://127.0.0.1:8545", "wss://rpc.example.net/v2", "mainnet"),
    "s3+https://storage.example.net/bucket": (
        "file:///var/lib/store",
        "gs://bucket",
        "s3://key:word@eu/bucket",
        "/tmp",
    ),
    "amqps://queue.example.net/live": ("amqp://queue.example.net", "https://queue.example.net"),
    "orch.example.net:8935": (
        "http://orch.example.net:8935",
        "https://[2001:db8::7]:443",
        "orch.example.net",
        "127.0.0.1:1",
        "none",
        "orch.example.net:65535",
    ),
    "https://orch-2.example.net:8935": ("http://orch-2.example.net:8935", "https://orch-2.example.net"),
    "http://203.0.113.50:8000": ("https://runner.example.net:443", "ws://203.0.113.50:8000", "http://203.0.113.50"),
    "kafka.example.net:9092": ("kafka-1.example.net:9092,kafka-2.example.net:9092", ":9092"),
    "1500 wei / pixel": ("0 wei / pixel", "1 wei / pixel", "0.01 USD / 1000000 pixels", "3 EUR / pixel"),
    "any": ("any ",),
}
"""More values of the kind that the schema shows by this example."""

_PLAIN = ("spare", "a b", "x,y", "-h", "$HOME", "none", "any", "")
_TEXTS: dict[str, tuple[str, ...]] = {
    "network": ("offchain", "arbitrum-one-mainnet", "mainnet", "arbitrum-one-rinkeby", "private"),
    "image": (
        "livepeer/go-livepeer",
        "livepeer/go-livepeer:v0.8.5",
        "livepeer/go-livepeer:latest",
        "registry:5000/a/b",
    ),
    "runner_image": ("livepeer/ai-runner:live", "livepeer/ai-runner"),
    "pipeline": (
        "text-to-image",
        "llm",
        "live-video-to-video",
        "Text-to-image",
        "audio-to-text",
        "image-to-video",
        "none",
    ),
    "id": ("ByteDance/SDXL-Lightning", "noop", "scope", "streamdiffusion", "without-organisation", "a b/c"),
    "min_release": ("0.9.1", "v0.9.1", "9"),
    "redeemer": ("redeem.example.net:8935", "redeem.example.net", "spare"),
    "orchestrator": ("orch.example.org:8935", "https://orch.example.org:8935", "orch.example.org", "none"),
    "orchestrators": ("https://orch.example.org:8935", "orch.example.org:8935", "orch.example.org", "a b"),
    "renditions": ("P144p30fps16x9", "P720p60fps16x9", "P1080p30fps16x9", "h264"),
    "public": ("edge.example.net:8935", "edge.example.net"),
    "reward_by": ("none", "nobody"),
    "gop": ("2.0", "intra", "0", "-1"),
    "env": ("SPARE_SECRET", "PATH", "A-B"),
    "vault": ("spare_secret",),
    "netint": ("0", "/dev/nvme0", "0,1"),
    "live_runner_proxy": ("https://{proxy}.example.net", "https://proxy.example.net", "{proxy}"),
    "min_runner_versions": ("0.14.1", "1", "v1.2.3"),
    "discovery": ("registry", "ai-registry", "webhook"),
    "code": ("zero-price", "rpc-not-https", "no-such-code"),
    "at": ("gateways", "orchestrators.orch"),
    "batch": ("1%", "100%", "0%"),
    "optimization": ("stable-fast", ""),
    "build": ("gpu", "spare"),
    "sha256": ("1" * 64, "A" * 64, "sha256"),
    "member": ("livepeer-linux-amd64/livepeer", "../livepeer", "livepeer"),
} | dict.fromkeys(
    (
        "binary",
        "state_dir",
        "keystore",
        "data_dir",
        "models_dir",
        "verifier_path",
        "live_runner_config",
        "host_file",
        "file",
    ),
    ("/srv/spare", "/var/lib/livepeer", "/var/lib/livepeer/keystore", "relative", "/"),
)
"""Values of texts that the schema says nothing about, by key."""

_KEYS: dict[str, tuple[str, ...]] = {
    "environment": (
        "LIVE_AI_WHIP_ADDR",
        "LIVE_AI_WHEP_ADDR",
        "LIVE_AI_WHEP_MAX_SESSIONS",
        "HOME",
        "LP_DATADIR",
    ),
    "secret_environment": ("HF_TOKEN", "LP_ETHURL", "LIVE_AI_WHEP_ADDR"),
    "optimization": ("SFAST",),
    "rates": ("USD", "EUR", "usd"),
    "max_model_prices": ("text-to-image", "Text-to-image", "nothing"),
    "gateway_prices": (_EVE, "nobody"),
    "min_runner_versions": ("streamdiffusion",),
    "programs": ("v0.9.1", "v0.9.0", "0.9.1"),
}
"""Keys of tables whose keys are free. Names of the fleet are tried as well."""

_REFERENCES = {
    "host": ("hosts",),
    "wallet": ("wallets",),
    "use": ("models",),
    "orchestrator": ("orchestrators",),
    "orchestrators": ("orchestrators",),
    "redeemer": ("redeemers",),
    "signer": ("remote_signers",),
    "ladder": ("ladders",),
    "gateway": ("gateways",),
    "reward_by": NODES,
    "max_model_prices": ("models",),
    "min_runner_versions": ("models",),
    "gateway_prices": ("gateways",),
}
"""Tables whose names a text or a free key may be."""


class Mutation(NamedTuple):
    """One change. `kind` is change, add, remove, copy or swap; copy and swap have another path for a value."""

    kind: str
    path: Path
    value: Any = None

    @property
    def name(self) -> str:
        """The change in words, such as: change gateways.gate.mode to 'ai'."""
        at = ".".join(map(str, self.path))
        word = {"change": " to ", "add": " = ", "copy": " from ", "swap": " with "}.get(self.kind)
        return f"{self.kind} {at}" + (f"{word}{self.value!r}" if word else "")

    @property
    def field(self) -> tuple[str, ...]:
        """What is changed, whatever its table is named: the kind, the path without names and places, what is added."""
        free = self.path[0] not in ("spec", "fleet", "rollout", "remove")
        keys = [part for i, part in enumerate(self.path) if isinstance(part, str) and not (free and i == 1)]
        inner = self.value
        while isinstance(inner, dict) and inner and "extra_flags" not in keys:
            keys.append(list(inner)[-1])
            inner = inner[keys[-1]]
        if "extra_flags" in keys:  # its keys are as many as the flags of the node
            del keys[keys.index("extra_flags") + 1 :]
        return (self.kind, *keys)

    def apply(self, raw: Raw) -> Raw:
        """A changed copy."""
        raw = deepcopy(raw)
        table = _at(raw, self.path[:-1])
        key = self.path[-1]
        if self.kind == "remove":
            del table[key]
            return raw
        value = deepcopy(self.value)
        if self.kind == "copy":
            value = deepcopy(_at(raw, self.value))
        elif self.kind == "swap":
            other = _at(raw, self.value[:-1])
            value, other[self.value[-1]] = other[self.value[-1]], table[key]
        if isinstance(table, list) and key == len(table):
            table.append(value)
        else:
            table[key] = value
        return raw


def _at(raw: Any, path: Path) -> Any:
    for part in path:
        raw = raw[part]
    return raw


def mutations(raw: Raw, fleet: Raw) -> list[Mutation]:
    """Every change of a spec or an overlay. References go to the names of `fleet`, the whole spec."""
    found = _Walk(fleet).table(json_schema(), raw, ())
    unique = {mutation.name: mutation for mutation in found}
    return [unique[name] for name in sorted(unique)]


def spread(found: Sequence[Mutation], count: int, seed: str) -> list[Mutation]:
    """`count` of the changes, always the same: kinds in turn, and each field once before any is changed again."""
    shuffled = list(found)
    random.Random(seed).shuffle(shuffled)
    by_field = _in_turn(shuffled, [mutation.field for mutation in shuffled])
    return _in_turn(by_field, [mutation.kind for mutation in by_field])[:count]


def _in_turn(found: Sequence[Mutation], groups: Sequence[object]) -> list[Mutation]:
    """The first of each group, then the second of each, and so on; otherwise in the order given."""
    seen: Counter[object] = Counter()
    turns = []
    for place, group in enumerate(groups):
        turns.append((seen[group], place))
        seen[group] += 1
    return [found[place] for _, place in sorted(turns)]


class _Walk:
    """Walks raw tables beside the schema. `fleet` gives the names that references may lead to."""

    def __init__(self, fleet: Raw) -> None:
        self._fleet = fleet

    def table(self, schema: Schema, raw: Raw, path: Path) -> Iterator[Mutation]:
        """Changes within a table: its known keys, or the free keys of a table of tables or values."""
        key, free = str(path[-1]) if path else "", _free_values(schema)
        for name, item in raw.items():
            if path or name in schema["properties"]:
                yield Mutation("remove", (*path, name))
                inner = schema.get("properties", {}).get(name) or free
                if inner is not None:
                    yield from self._value(inner, item, (*path, name))
        for name, inner in schema.get("properties", {}).items():
            if name not in raw:
                yield from (Mutation("add", (*path, name), value) for value in self._values(inner, name))
        if free is not None:
            for name in self._free_keys(key, raw):
                yield from (Mutation("add", (*path, name), value) for value in self._values(free, key))
            tables = [name for name, item in raw.items() if isinstance(item, dict)]
            yield from (Mutation("copy", (*path, "spare"), (*path, name)) for name in tables)
            yield from (Mutation("swap", (*path, a), (*path, b)) for a, b in pairwise(tables))

    def _value(self, schema: Schema, raw: Any, path: Path) -> Iterator[Mutation]:
        """Changes of one value, or of what is in it."""
        options = _options(schema)
        if isinstance(raw, dict):
            for option in options:
                if option.get("type") == "object":
                    yield from self.table(option, raw, path)
            return
        if isinstance(raw, list):
            for option in options:
                if option.get("type") == "array":
                    yield from self._list(option["items"], raw, path)
        named = [part for part in path if isinstance(part, str)][-1]
        for value in self._values(schema, named):
            if value != raw or type(value) is not type(raw):
                yield Mutation("change", path, value)

    def _list(self, schema: Schema, raw: list[Any], path: Path) -> Iterator[Mutation]:
        for place, item in enumerate(raw):
            yield Mutation("remove", (*path, place))
            yield from self._value(schema, item, (*path, place))
            yield Mutation("copy", (*path, len(raw)), (*path, place))
            if place:
                yield Mutation("swap", (*path, place - 1), (*path, place))

    def _values(self, schema: Schema, key: str) -> list[Any]:
        """Plausible and nasty values of a type; `key` is the key that they stand under."""
        return [value for option in _options(schema) for value in self._option(option, key)]

    def _option(self, schema: Schema, key: str) -> list[Any]:
        if "const" in schema:
            return [schema["const"]]
        if "enum" in schema:
            return list(schema["enum"])
        if isinstance(schema.get("type"), list):  # extra_flags: the value has to be of the flag's type
            return [True, 3, "1", "0.5", "20s"]
        match schema.get("type"):
            case "boolean":
                return [True, False]
            case "integer":
                low, high = schema.get("minimum", 0), schema.get("maximum", 2**63 - 1)
                return sorted({low, high, low - 1, min(high + 1, 2**63 - 1), 0, 1, 2, 8, 22, 8935} | {min(high, 2**31)})
            case "number":
                low, high = schema.get("minimum", 0), schema.get("maximum", 2**53)
                return [low, high, low - 1, high + 1, 0.5, True, "1"]
            case "string":
                examples = schema.get("examples", [])
                known = [*examples, *(value for example in examples for value in _NASTY.get(example, ()))]
                return known or self._texts(key)
            case "array":
                items = self._values(schema["items"], key)
                return [[], *([item] for item in items), items[:2]]
            case "object":
                return self._objects(schema, key)
        return ["https://example.net/anything", {"env": "SPARE_SECRET"}]  # the schema says nothing

    def _texts(self, key: str) -> list[Any]:
        return list(dict.fromkeys((*self._names(key), *_TEXTS.get(key, _PLAIN))))

    def _names(self, key: str) -> list[str]:
        return [name for table in _REFERENCES.get(key, ()) for name in self._fleet.get(table, {})]

    def _free_keys(self, key: str, raw: Raw) -> list[str]:
        if key == "extra_flags":
            return [flag for flag in node_flags() if flag not in raw]
        keys = dict.fromkeys((*self._names(key), *_KEYS.get(key, ("spare",))))
        return [name for name in keys if name not in raw]

    def _objects(self, schema: Schema, key: str) -> list[Any]:
        """A table with what it must have, and again with each thing that it may have."""
        free = _free_values(schema)
        if free is not None:
            values = self._values(free, key)
            return [{name: value} for name in self._free_keys(key, {}) for value in values]
        if schema.get("maxProperties") == 1:
            return [{name: value} for name in schema["properties"] for value in self._texts(name)[:2]]
        if "properties" not in schema:
            return [{"spare": [1, {"deep": "text"}]}]  # a table that holds anything
        known = schema["properties"]
        must = [*schema.get("required", ()), *(["wallet"] if "wallet" in known and self._fleet.get("wallets") else [])]
        base = {name: self._values(known[name], name)[0] for name in must}
        more = ((name, inner) for name, inner in known.items() if name not in base)
        single = [{**base, name: value} for name, inner in more for value in self._values(inner, name)[:3]]
        return [base, *single]


def _options(schema: Schema) -> list[Schema]:
    """The types that a value may have, references followed."""
    if "$ref" in schema:
        return _options(json_schema()["$defs"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return [option for part in schema["anyOf"] for option in _options(part)]
    return [schema]


def _free_values(schema: Schema) -> Schema | None:
    """The type of the values of a table whose keys are free; None for a table of known keys."""
    free = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    return free if isinstance(free, dict) else None
