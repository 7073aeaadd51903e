"""Facts about the node that we configure, as data: flags by release, AI pipelines, networks; and about GPU models.

In: the TOML files beside this one, read once at import (the single exception to "the core reads no disk"; `load` reads
those of other rooms). Out: `FLAGS`, `ABILITIES`, `RELEASES`, `PIPELINES`, `AI_RUNNER_ENDS`, `LIVE_MODEL_IDS`,
`NETWORKS`, `GAS_PRICE`, `RENDITIONS`, `gpu_model`. Rules and lowering ask here and hold no facts of their own. What
each release changed is in `releases.py`, read when asked for. Source of every fact: the node's own source at release
v0.9.1; `gpus.toml` names a source for each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import tomli

Release = tuple[int, int, int]
"""A node release, such as (0, 9, 1) for v0.9.1."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One command-line flag. `env` is the variable that sets it; `secret` values never stand on a command line.

    `deprecated_since`, `no_effect_since` and `removed` are the first such releases. `impact` and `says` are the meaning
    of a change, for `impacts.py`.
    """

    name: str
    type: str
    default: str | int | bool
    roles: frozenset[str]
    group: str
    since: Release
    secret: bool = False
    replaced_by: str = ""
    deprecated_since: Release | None = None
    no_effect_since: Release | None = None
    removed: Release | None = None
    impact: Mapping[str, Any] = field(default_factory=dict, compare=False)
    says: dict[str, str] = field(default_factory=dict, compare=False)

    def known_to(self, release: Release) -> bool:
        """Whether a release has the flag; one without it stops at its start."""
        return self.since <= release and (self.removed is None or release < self.removed)

    def acts_in(self, release: Release) -> bool:
        """Whether a release has the flag and it does anything there."""
        return self.known_to(release) and (self.no_effect_since is None or release < self.no_effect_since)

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
    """A network by name: layer 0 is off-chain. `chain_id` is None off-chain.

    `controller` is the node's built-in protocol contract there, "" off-chain.

    `redemption_gas` is what redeeming a ticket takes there, `min_gas_price` (wei) what the node never goes below.
    """

    name: str
    layer: int
    chain_id: int | None
    controller: str
    redemption_gas: int
    min_gas_price: int = 0


@dataclass(frozen=True, slots=True)
class GpuModel:
    """A GPU model by its plain name: the memory sizes it is sold with, in bytes, rising; `encoder` is limited,
    unlimited, none, or "" where that is not known.
    """

    name: str
    memory: tuple[int, ...]
    encoder: str


def parse_release(text: str) -> Release:
    """Turn "v0.9.1" into (0, 9, 1). Raises ValueError for any other form."""
    parts = text.removeprefix("v").split(".")
    if len(parts) != 3 or not text.startswith("v") or not all(p.isascii() and p.isdigit() for p in parts):
        raise ValueError(f"not a release: {text}")
    return int(parts[0]), int(parts[1]), int(parts[2])


def format_release(release: Release) -> str:
    """Turn (0, 9, 1) into "v0.9.1"."""
    return "v" + ".".join(map(str, release))


def load(name: str, beside: str = __file__) -> dict[str, Any]:
    """The tables of a data file of the package, which lies beside this module or another one."""
    return tomli.loads(text(name, beside))


def text(name: str, beside: str = __file__) -> str:
    """The text of a data file of the package, which lies beside this module or another one."""
    return Path(beside).with_name(name).read_text(encoding="utf-8")


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
            deprecated_since=_release(row, "deprecated_since"),
            no_effect_since=_release(row, "no_effect_since"),
            removed=_release(row, "removed"),
            impact=row.get("impact", {}),
            says=row.get("says", {}),
        )
        for name, row in _FLAG_DATA["flags"].items()
    }


def _release(row: dict[str, Any], column: str) -> Release | None:
    return parse_release(row[column]) if column in row else None


def _plain_gpu(name: str) -> str:
    words = name.casefold().replace("-", " ").split()
    return " ".join(word for word in words if word not in ("nvidia", "geforce", "tesla"))


def _gpus() -> dict[str, GpuModel]:
    return {
        _plain_gpu(name): GpuModel(name, tuple(sorted(size * 2**30 for size in row["memory"])), row.get("encoder", ""))
        for row in _GPU_DATA["models"]
        for name in row["names"]
    }


@lru_cache(maxsize=256)
def gpu_model(name: str) -> GpuModel | None:
    """The model with this name, however nvidia-smi or a person writes it: "RTX 4090", "NVIDIA GeForce RTX 4090"."""
    return _GPUS.get(_plain_gpu(name))


_FLAG_DATA = load("node_flags.toml")
_PIPELINE_DATA = load("pipelines.toml")
_NETWORK_DATA = load("networks.toml")
_GPU_DATA = load("gpus.toml")

FLAGS: dict[str, Flag] = _flags()
RELEASES: tuple[Release, ...] = tuple(map(parse_release, _FLAG_DATA["releases"]))
"""Every release with completely known flags, oldest first. A spec may name any newer one too, with a warning."""

OLDEST_RELEASE, NEWEST_RELEASE = RELEASES[0], RELEASES[-1]
ABILITIES: dict[str, Release] = {name: parse_release(text) for name, text in _FLAG_DATA["abilities"].items()}
"""What no flag shows: the first release that can do it."""

AI_RUNNER_ENDS: str = "its images (ai-runner) are deprecated {deprecated}, and {instead} replace them".format(
    **_PIPELINE_DATA["ai_runner"]
)
PIPELINES: dict[str, Pipeline] = {n: Pipeline(n, **row) for n, row in _PIPELINE_DATA["pipelines"].items()}
LIVE_MODEL_IDS: frozenset[str] = frozenset(_PIPELINE_DATA["live_models"]["ids"])
KNOWN_MODEL_IDS: frozenset[str] = frozenset(_PIPELINE_DATA["known_models"]["ids"])
"""Ids of well-known models in their exact spelling; there are many more."""
RENDITIONS: tuple[str, ...] = tuple(load("renditions.toml")["renditions"]["names"])
NETWORKS: dict[str, Network] = {
    n: Network(
        n, row["layer"], row.get("chain_id"), row.get("controller", ""),
        row.get("redemption_gas", _NETWORK_DATA["payments"]["redemption_gas"]), row.get("min_gas_price", 0),
    )
    for n, row in _NETWORK_DATA["networks"].items()
}  # fmt: skip
REDEMPTION_GAS: int = _NETWORK_DATA["payments"]["redemption_gas"]
"""What redeeming a ticket takes on a network without a row."""
ACTIVE_SET: int = _NETWORK_DATA["payments"]["active_set"]
"""Assumed number of orchestrators that share each reserve."""
GAS_PRICE: int = _NETWORK_DATA["payments"]["gas_price"]
"""The gas price in wei that is assumed where the spec states none."""
AI_REGISTRY: str = _NETWORK_DATA["registries"]["ai"]
"""The contract with service addresses that the node asks with `-aiServiceRegistry`."""
LAYER_1_FRAGMENTS: tuple[str, ...] = tuple(_NETWORK_DATA["layer_1_hosts"]["fragments"])
LAYER_2_FRAGMENTS: tuple[str, ...] = tuple(_NETWORK_DATA["layer_1_hosts"]["not_fragments"])
_GPUS: dict[str, GpuModel] = _gpus()
GPU_NAMES: tuple[str, ...] = tuple(sorted(model.name for model in _GPUS.values()))
"""The plain names of all GPU models that are known."""
FEWEST_LIMITED_SESSIONS: int = min(row["sessions"] for row in _GPU_DATA["session_limits"])
"""Hardware encode sessions that every driver allows on a GPU with a limited encoder."""
MOST_SESSIONS = {"none": 0, "limited": max(row["sessions"] for row in _GPU_DATA["session_limits"])}
"""The most of them that any known driver allows, by encoder."""
