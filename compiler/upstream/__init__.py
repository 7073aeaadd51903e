"""Facts about the node that we configure, as data: flags by release, AI pipelines, networks.

In: the TOML files beside this one, read once at import (the single exception to "the core reads no disk").
Out: `FLAGS`, `PIPELINES`, `LIVE_MODEL_IDS`, `NETWORKS`, `RENDITIONS`. Rules and lowering ask here and hold no facts of
their own.
Source of every fact: the node's own source at release v0.9.1.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Release = tuple[int, int, int]
"""A node release, such as (0, 9, 1) for v0.9.1."""

OLDEST_RELEASE: Release = (0, 7, 6)
NEWEST_RELEASE: Release = (0, 9, 1)


@dataclass(frozen=True, slots=True)
class Flag:
    """One command-line flag. `env` is the variable that sets it; `secret` values never stand on a command line."""

    name: str
    type: str
    default: str | int | bool
    roles: frozenset[str]
    group: str
    since: Release
    secret: bool = False
    replaced_by: str = ""

    @property
    def env(self) -> str:
        """The environment variable that the node reads for this flag: LP_ and the upper-cased name."""
        return "LP_" + self.name.upper()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One AI pipeline: its capability number and the first two digits of its runners' host ports."""

    name: str
    capability: int
    port_prefix: int
    image: str


@dataclass(frozen=True, slots=True)
class Network:
    """A network by name: layer 0 is off-chain. `chain_id` is None where nothing is on a chain."""

    name: str
    layer: int
    chain_id: int | None
    built_in_controller: bool


def parse_release(text: str) -> Release:
    """Turn "v0.9.1" into (0, 9, 1). Raises ValueError for any other form."""
    parts = text.removeprefix("v").split(".")
    if len(parts) != 3 or not text.startswith("v") or not all(p.isascii() and p.isdigit() for p in parts):
        raise ValueError(f"not a release: {text}")
    return int(parts[0]), int(parts[1]), int(parts[2])


def format_release(release: Release) -> str:
    """Turn (0, 9, 1) into "v0.9.1"."""
    return "v" + ".".join(map(str, release))


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _flags() -> dict[str, Flag]:
    return {
        name: Flag(
            name=name,
            type=row["type"],
            default=row["default"],
            roles=frozenset(row["roles"]),
            group=row["group"],
            since=parse_release(row["since"]),
            secret=row.get("secret", False),
            replaced_by=row.get("replaced_by", ""),
        )
        for name, row in _load("node_flags.toml")["flags"].items()
    }


_PIPELINE_DATA = _load("pipelines.toml")
_NETWORK_DATA = _load("networks.toml")

FLAGS: dict[str, Flag] = _flags()
PIPELINES: dict[str, Pipeline] = {n: Pipeline(n, **row) for n, row in _PIPELINE_DATA["pipelines"].items()}
LIVE_MODEL_IDS: frozenset[str] = frozenset(_PIPELINE_DATA["live_models"]["ids"])
RENDITIONS: tuple[str, ...] = tuple(_load("renditions.toml")["renditions"]["names"])
NETWORKS: dict[str, Network] = {
    n: Network(n, row["layer"], row.get("chain_id"), row["built_in_controller"])
    for n, row in _NETWORK_DATA["networks"].items()
}
LAYER_1_FRAGMENTS: tuple[str, ...] = tuple(_NETWORK_DATA["layer_1_hosts"]["fragments"])
LAYER_2_FRAGMENTS: tuple[str, ...] = tuple(_NETWORK_DATA["layer_1_hosts"]["not_fragments"])
