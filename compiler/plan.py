"""The intermediate representation: hosts, services, arguments and files, each with an origin.

Made by `lower/`, read by `backends/`. Nothing here is decided any more and nothing here is formatted yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from compiler.model.effective import BoundPort
from compiler.origin import Origin
from compiler.upstream import Release

DOCKER_SOCKET = "/var/run/docker.sock"
"""Through it a node starts containers."""

RELEASE_ROOT = "/opt/fleetc"
"""Where releases live on a host: <root>/releases/<digest> and the link <root>/current."""

SECRET_ROOT = "/etc/fleetc"  # noqa: S105  # a path
"""Where a rollout writes secret environment files, mode 0600: <root>/<service>/secrets.env."""


class Argument(NamedTuple):
    """One flag of a process: `-flag=value`."""

    flag: str
    value: str
    origin: Origin

    @property
    def text(self) -> str:
        """The argument as the process receives it: one word, whatever the value holds."""
        return f"-{self.flag}={self.value}"


class Variable(NamedTuple):
    """One environment variable that holds no secret."""

    name: str
    value: str
    origin: Origin


class SecretVariable(NamedTuple):
    """One environment variable whose value is found at rollout; `kind` is env, host_file or vault."""

    name: str
    kind: str
    reference: str
    origin: Origin


class PlannedFile(NamedTuple):
    """A JSON file that the process reads: its name in the service's directory and its content as plain values."""

    name: str
    content: Any
    origin: Origin


class Mount(NamedTuple):
    """A path of the host that a container sees under the same name."""

    path: str
    read_only: bool
    origin: Origin


@dataclass(frozen=True, slots=True)
class Service:
    """One process on one host. `table` and `name` are the node's place in the spec."""

    name: str
    table: str
    role: str
    mode: str
    release: Release
    image: str
    data_dir: str
    arguments: tuple[Argument, ...]
    variables: tuple[Variable, ...]
    secrets: tuple[SecretVariable, ...]
    files: tuple[PlannedFile, ...]
    mounts: tuple[Mount, ...]
    ports: tuple[BoundPort, ...]
    gpus: tuple[int, ...] | str | None
    manages_containers: bool
    monitored: bool

    @property
    def unit(self) -> str:
        """Name of the systemd unit, of the Compose project and of the container."""
        return f"livepeer-{self.name}"

    @property
    def directory(self) -> str:
        """Directory of the service's files on the host, through the link to the current release."""
        return f"{RELEASE_ROOT}/current/{self.name}"

    @property
    def secret_file(self) -> str:
        """File on the host into which a rollout writes the secret variables."""
        return f"{SECRET_ROOT}/{self.name}/secrets.env"


@dataclass(frozen=True, slots=True)
class HostPlan:
    """One machine and what runs on it."""

    name: str
    address: str
    public: str
    runtime: str
    region: str
    ssh_user: str
    ssh_port: int
    become: bool
    node_user: str
    binary: str
    services: tuple[Service, ...]


class Edge(NamedTuple):
    """A connection: `kind` is pays (fixed list), finds (registry or webhook), serves (remote worker) or outside.

    For helpers it is signs (a gateway has tickets signed) or redeems (an orchestrator has them redeemed).
    """

    source: str
    target: str
    kind: str


class MarketRow(NamedTuple):
    """One gateway against one offer, as text."""

    gateway: str
    work: str
    orchestrator: str
    asks: str
    pays: str
    outcome: str


class MarketSummary(NamedTuple):
    """What one gateway can buy of video or of models: offers by how they stand, and the prices of those it buys."""

    gateway: str
    work: str
    offers: int
    within: int
    above: int
    unknown: int
    cheapest: str
    dearest: str


class FundsRow(NamedTuple):
    """What one node pays from, as text; an empty text is not stated."""

    node: str
    wallet: str
    deposit: str
    reserve: str
    load: str
    cost: str
    runway: str


class Market(NamedTuple):
    """Who can buy what from whom: row by row in a small fleet (`whole`), else a summary of each gateway.

    `gateways` and `offers` count what a fleet at most has for `whole`; `rates` are (currency, worth).
    """

    whole: bool = True
    gateways: int = 0
    offers: int = 0
    rows: tuple[MarketRow, ...] = ()
    summaries: tuple[MarketSummary, ...] = ()
    funds: tuple[FundsRow, ...] = ()
    rates: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole fleet, ready to be emitted."""

    fleet: str
    network: str
    release: Release
    hosts: tuple[HostPlan, ...]
    edges: tuple[Edge, ...]
    canary: int
    batch: int | str
    silenced: tuple[tuple[str, str, str], ...]
    market: Market
