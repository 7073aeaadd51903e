"""The intermediate representation: hosts, services, arguments and files, each with an origin.

Made by `lower/`, read by `emit/`. All decisions have been made, and nothing is formatted yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from fleetc.blueprint.listeners import Listening, Startable
from fleetc.blueprint.market import MarketTables
from fleetc.blueprint.monitoring import MonitoringBlueprint
from fleetc.blueprint.rollout import Health, LiveValue, Need, Program, RolloutTimes
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, Origin
from fleetc.upstream import Release, format_release

LAUNCH_FLAGS = "launch.flags"
"""The file of a service that lists its command line for reviewers. No program reads it."""

RUNNERS = "runners"
"""The table of live runner services, which checks of nodes skip."""

DOCKER_SOCKET = "/var/run/docker.sock"
"""The socket through which a node starts containers."""

RELEASE_ROOT = "/opt/fleetc"
"""The directory of releases on a host: <root>/releases/<digest> and the link <root>/current."""

SECRET_ROOT = "/etc/fleetc"  # noqa: S105  # a path
"""Where a rollout writes secrets, mode 0600: variables into <root>/<service>/secrets.env, others beside it."""


class Argument(NamedTuple):
    """One flag of a process: `-flag=value`. Without a flag it is a bare word, in a fixed order."""

    flag: str
    value: str
    origin: Origin

    @property
    def text(self) -> str:
        """The argument as the process receives it: one word for any value."""
        return f"-{self.flag}={self.value}" if self.flag else self.value


class Variable(NamedTuple):
    """One environment variable without a secret."""

    name: str
    value: str
    origin: Origin


class SecretVariable(NamedTuple):
    """One environment variable whose value is looked up at rollout; `kind` is env, host_file, vault or command.

    With `as_file`, the variable has the path of a file with the value, which systemd hands to the user of the node.
    """

    name: str
    kind: str
    reference: str
    origin: Origin
    as_file: bool = False


class BlueprintFile(NamedTuple):
    """A JSON file that the process reads: its name in the service's directory and its content as plain values.

    `places` has the origins of parts of the content, by key path; everything below a part shares its origin.
    """

    name: str
    content: Any
    origin: Origin
    places: Mapping[Path, Origin] = MappingProxyType({})

    def origins_at(self, place: Path) -> tuple[Origin, ...]:
        """The origin of the nearest enclosing part that has one, else that of the whole file."""
        for length in range(len(place), 0, -1):
            found = self.places.get(place[:length])
            if found is not None:
                return (found,)
        return (self.origin,)


class PriceLine(NamedTuple):
    """A price of the process as people read it: the most that the node pays if it `pays`, else what it asks."""

    pays: bool
    work: str
    price: str
    origin: Origin


class Silenced(NamedTuple):
    """A warning that the spec silences, everywhere without `at`; `until` is its last day as text, or ""."""

    name: str
    code: str
    at: str
    reason: str
    until: str = ""
    owner: str = ""


class Kept(NamedTuple):
    """A value that a process gets once at its start and that is in no other file."""

    what: str
    value: str
    origin: Origin


class Mount(NamedTuple):
    """A path of the host that a container sees under the same name."""

    path: str
    read_only: bool
    origin: Origin


_NO_HEALTH = Health()


@dataclass(frozen=True, slots=True)
class Service:
    """One process on one host. `table` and `name` are the node's place in the spec.

    `program` is None in a container; with `host_ipc` it shares the host's memory segments. `hardened` is whether it
    runs without capabilities that it does not need.
    """

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
    files: tuple[BlueprintFile, ...]
    mounts: tuple[Mount, ...]
    gpus: tuple[int, ...] | str | None
    manages_containers: bool
    monitored: bool
    prices: tuple[PriceLine, ...] = ()
    health: Health = _NO_HEALTH
    exclusive: tuple[str, ...] = ()
    """Its exclusive duties (one process of the fleet at a time), in stable words."""
    live: tuple[LiveValue, ...] = ()
    program: Program | None = None
    host_ipc: bool = False
    hardened: bool = False
    kept: tuple[Kept, ...] = ()
    out: Chosen[str] | None = None
    """Until when and why it is out of service, as people read it; None if it runs."""

    @property
    def node_release(self) -> str:
        """The release of the node as people write it; "" for a live runner, which is no node."""
        return "" if self.table == RUNNERS else format_release(self.release)

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
        """The secret variables on the host, through the link to the release that the service runs."""
        return f"{SECRET_ROOT}/{self.name}/secrets.env"

    @property
    def secret_variables(self) -> tuple[SecretVariable, ...]:
        """The secrets that are in the environment of the process."""
        return tuple(secret for secret in self.secrets if not secret.as_file)

    @property
    def credentials(self) -> tuple[SecretVariable, ...]:
        """The secrets that systemd hands over in files, sorted."""
        return tuple(secret for secret in sorted(self.secrets) if secret.as_file)

    def credential_source(self, secret: SecretVariable) -> str:
        """Where a rollout writes the value of a credential, for root alone."""
        return f"{SECRET_ROOT}/{self.name}/{secret.name}"

    def credential_file(self, secret: SecretVariable) -> str:
        """Where the process finds it, as systemd hands it over. `%d` would need systemd 250."""
        return f"/run/credentials/{self.unit}.service/{secret.name}"


AVATAR_DIRECTORY = "avatar"
"""The directory of the avatar stack's files, next to those of services; no service may have this name."""


class AllowedNetwork(NamedTuple):
    """One entry of an allowlist in its reader's notation: a network with its prefix, or a bare address."""

    text: str
    origin: Origin


class Allowlist(NamedTuple):
    """Who may call, for one reader: `file` is its name in `allow/`."""

    file: str
    entries: tuple[AllowedNetwork, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The entries only."""
        return tuple(entry.text for entry in self.entries)


class StackImage(NamedTuple):
    """The image of a service without a release tag: with its digest, or "" for the checkout's latest."""

    service: str
    image: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class AvatarSlot:
    """One slot: its own Compose project. `variables` are its whole environment, except for secrets.

    `arguments` are the signaling server's arguments that name the slot, as one text; `network` is empty if Docker
    chooses one; `gpu` is an id or "all"; `ports` maps signaling, runner, recorder and, if present, game; `asleep` is
    where the spec lets it sleep.
    """

    number: int
    avatar: str
    project: str
    gpu: str
    network: str
    ports: tuple[tuple[str, int], ...]
    arguments: str
    variables: tuple[Variable, ...]
    directories: tuple[str, ...]
    origin: Origin
    asleep: Origin | None

    @property
    def name(self) -> str:
        """Name of its files and of its marker on the host."""
        return f"slot-{self.number:02}"


@dataclass(frozen=True, slots=True)
class StackBlueprint:
    """The avatar stack of a host. `name` is its key in `avatars` of the spec.

    `ref` is what the checkout is brought to, a tag or a commit, "" where it is left as it is. `services` are those of
    the host's own Compose project; `game_arguments` is empty if the game keeps its own; `relay` is the range of UDP
    ports for TURN, None without TURN; `steered`: a control plane writes the matchmaker's arguments on the host.
    `cluster` lists the slots for the stack's command line; `checkout_files` are the files of the checkout that slots
    start with, relative to it.
    """

    name: str
    release: str
    image_tag: str
    ref: str
    prefix: str
    checkout: str
    checkout_files: tuple[str, ...]
    services: tuple[str, ...]
    host_variables: tuple[Variable, ...]
    steered: bool
    host_secrets: tuple[SecretVariable, ...]
    turn_variables: tuple[Variable, ...]
    turn_secrets: tuple[SecretVariable, ...]
    game_arguments: str
    images: tuple[StackImage, ...]
    slots: tuple[AvatarSlot, ...]
    cluster: BlueprintFile
    allowlists: tuple[Allowlist, ...]
    relay: tuple[int, int] | None
    startable: Startable

    @property
    def networks(self) -> tuple[str, ...]:
        """The networks of the slots."""
        return tuple(slot.network for slot in self.slots if slot.network)

    @property
    def secrets(self) -> tuple[SecretVariable, ...]:
        """All secrets of the stack."""
        return (*self.host_secrets, *self.turn_secrets)

    @property
    def shell_variables(self) -> tuple[Variable, ...]:
        """The settings of the stack's command line, which it only reads from its caller's environment."""
        read = (f"{self.prefix}_CLI_", f"{self.prefix}_CLUSTER_FILE")
        return tuple(v for v in self.host_variables if v.name.startswith(read))

    def pinned(self, service: str) -> str:
        """The image that a service is pinned to, or ""."""
        return next((image.image for image in self.images if image.service == service), "")

    def callers(self) -> Allowlist:
        """The allowlist of the firewall."""
        return next(listed for listed in self.allowlists if listed.file == FIREWALL_ALLOWLIST)


SIGNALING_SERVICE, GAME_SERVICE, TURN_SERVICE = "unreal-signaling", "unreal-game", "turn-server"
"""Services of a stack whose images have no release tag."""

CLUSTER_FILE = "cluster.json"
HOST_COMPOSE = "host.compose.yaml"
"""Overrides the Compose file of the host's services where their images are pinned."""

FIREWALL_ALLOWLIST = "firewall.cidr"
POWER_ALLOWLIST = "power.cidr"
RUNNER_ALLOWLIST = "runner.txt"
RECORDER_ALLOWLIST = "recorder.txt"


@dataclass(frozen=True, slots=True)
class HostBlueprint:
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
    services: tuple[Service, ...]
    avatar: StackBlueprint | None = None
    needs: tuple[Need, ...] = ()
    listeners: tuple[Listening, ...] = ()
    out: Chosen[str] | None = None
    """As for a service, for everything on the host."""

    def ports_of(self, service: Service) -> tuple[Listening, ...]:
        """What a service listens on, by port."""
        return tuple(one for one in self.listeners if one.owner == (service.table, service.name))

    def secrets(self) -> Iterator[tuple[str, tuple[SecretVariable, ...]]]:
        """The secrets of each service of the host and of its avatar stack, each with the name of its user."""
        for service in self.services:
            yield service.name, service.secrets
        if self.avatar is not None:
            yield AVATAR_DIRECTORY, self.avatar.secrets


class RequestSecret(NamedTuple):
    """A secret in the request that creates a stream: the place of its placeholder, and the reference to resolve.

    `kind` is env, vault or command; `form` is a regular expression that the value must match, or "".
    """

    place: tuple[str | int, ...]
    kind: str
    reference: str
    form: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class StreamBlueprint:
    """One stream of the stream API.

    `request` is the payload that creates it, `answer` that of an authentication webhook (None without a gateway).
    The API reads `suspended` only for existing streams.
    """

    name: str
    gateway: str
    request: BlueprintFile
    answer: BlueprintFile | None
    secrets: tuple[RequestSecret, ...]
    suspended: bool


class StreamApiBlueprint(NamedTuple):
    """The stream API: its address in canonical form, and its token's reference (`kind` is env, vault or command)."""

    base_url: str
    kind: str
    reference: str


class Connection(NamedTuple):
    """A connection: `kind` is pays (fixed list), finds (registry or webhook), serves (remote worker) or outside.

    For helpers it is signs (signs tickets for a gateway) or redeems (redeems them for an orchestrator); an orchestrator
    offers a live runner.
    """

    source: str
    target: str
    kind: str


_USUAL_TIMES = RolloutTimes()


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The whole fleet, ready to be emitted. `batches` has all its hosts in rollout order.

    `pairs` has two hosts of different batches for each group that must stay up, and `needed` what each group does, with
    its hosts. `may_miss` is how many hosts a rollout may leave behind. `live` is the mode for changes of running nodes:
    try, only or never.
    """

    fleet: str
    network: str
    release: Release
    hosts: tuple[HostBlueprint, ...]
    edges: tuple[Connection, ...]
    canary: int
    batch: int | str
    silenced: tuple[Silenced, ...]
    market: MarketTables
    streams: tuple[StreamBlueprint, ...] = ()
    stream_api: StreamApiBlueprint | None = None
    monitoring: MonitoringBlueprint | None = None
    batches: tuple[tuple[str, ...], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    needed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    may_miss: int = 0
    times: RolloutTimes = _USUAL_TIMES
    live: str = "try"

    @property
    def in_order(self) -> tuple[HostBlueprint, ...]:
        """The hosts in rollout order; hosts without a batch come last."""
        places = {name: place for place, name in enumerate(chain.from_iterable(self.batches))}
        return tuple(sorted(self.hosts, key=lambda host: places.get(host.name, len(places))))
