"""The typed fleet: the root of the spec language and the ways to walk it.

In: tables typed by the files beside this one. Out: `Fleet`, frozen, with its nodes by name, host and wallet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import AfterValidator, Field

from fleetc.language.avatar import Avatars
from fleetc.language.fields import Base, Currency, Name, Rate, refuse
from fleetc.language.gateway import Gateway
from fleetc.language.host import FleetSettings, Host, Model, Rollout, Silence, Wallet
from fleetc.language.ladder import Ladder
from fleetc.language.monitoring import Monitoring
from fleetc.language.node import ChainSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.program import Program, ReleaseName
from fleetc.language.runner import Runner
from fleetc.language.signer import Redeemer, RewardCaller, Signer
from fleetc.language.stream import Stream
from fleetc.language.stream_api import StreamApi
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.places.diagnostic import Path
from fleetc.text.suggestions import Suggestions
from fleetc.upstream import AI_RUNNER_ENDS

NODE_TABLES = (
    "gateways",
    "orchestrators",
    "transcoders",
    "ai_workers",
    "remote_signers",
    "redeemers",
    "reward_callers",
)

AnyNode = Gateway | Orchestrator | Transcoder | AiWorker | Signer | Redeemer | RewardCaller


NEWEST = 1
"""The version of the spec language, which the types are."""


class Node(NamedTuple):
    """A node and its place in the spec: its table, its name and its settings."""

    table: str
    name: str
    settings: AnyNode

    @property
    def path(self) -> Path:
        """The key path of the node's table."""
        return (self.table, self.name)


class Stack(NamedTuple):
    """The avatar stack of a host and its place in the spec: its name and its settings."""

    name: str
    settings: Avatars

    @property
    def path(self) -> Path:
        """The key path of the stack's table."""
        return ("avatars", self.name)


T = TypeVar("T")
Subject = TypeVar("Subject", Node, Stack)


class PlacedRunner(NamedTuple):
    """A live runner that fleetc starts: its name, where it runs and listens, and its settings."""

    name: str
    host: str
    port: int
    runner: Runner

    @property
    def path(self) -> Path:
        """The key path of the runner's table."""
        return ("runners", self.name)


def _version(value: int) -> int:
    if value != NEWEST:
        raise refuse(f"there is no version {value} of the spec language", f"write spec = {NEWEST}", repair=NEWEST)
    return value


class Fleet(Base):
    """A whole fleet, as one spec and its overlays describe it."""

    spec: Annotated[int, Field(strict=True), AfterValidator(_version)] = Field(
        description=f"Version of the spec language; write {NEWEST}."
    )
    fleet: FleetSettings = Field(description="The fleet as a whole.")
    rates: dict[Currency, Rate] = Field(
        default_factory=dict,
        description='Worth of one unit of a currency, such as USD = "0.00042 ETH". Only `check` and reports use it; '
        "nodes have their own price feed.",
    )
    hosts: dict[Name, Host] = Field(description="Machines, by name.", min_length=1)
    programs: dict[ReleaseName, Program] = Field(
        default_factory=dict, description="The node's programs that fleetc installs on systemd hosts, by release."
    )
    wallets: dict[Name, Wallet] = Field(default_factory=dict, description="Chain accounts, by name.")
    models: dict[Name, Model] = Field(
        default_factory=dict, description=f"AI models, by name. The node runs them: {AI_RUNNER_ENDS}."
    )
    gateways: dict[Name, Gateway] = Field(default_factory=dict, description="Gateways, by name.")
    orchestrators: dict[Name, Orchestrator] = Field(default_factory=dict, description="Orchestrators, by name.")
    transcoders: dict[Name, Transcoder] = Field(default_factory=dict, description="Remote transcoders, by name.")
    ai_workers: dict[Name, AiWorker] = Field(default_factory=dict, description="Remote AI workers, by name.")
    remote_signers: dict[Name, Signer] = Field(default_factory=dict, description="Remote signers, by name.")
    redeemers: dict[Name, Redeemer] = Field(default_factory=dict, description="Redeemers of tickets, by name.")
    reward_callers: dict[Name, RewardCaller] = Field(
        default_factory=dict, description="Processes that only call reward or initialize rounds, by name."
    )
    runners: dict[Name, Runner] = Field(default_factory=dict, description="Live runners, by name.")
    avatars: dict[Name, Avatars] = Field(default_factory=dict, description="Avatar stacks of hosts, by name.")
    ladders: dict[Name, Ladder] = Field(default_factory=dict, description="Ladders of renditions, by name.")
    streams: dict[Name, Stream] = Field(
        default_factory=dict, description="Streams of the stream API, by their name in this spec."
    )
    stream_api: StreamApi | None = Field(
        None, description="Where the stream API is; without this table, `fleetc streams` only compares stored answers."
    )
    rollout: Rollout = Field(default_factory=Rollout, description="How a new release reaches the hosts, step by step.")
    monitoring: Monitoring | None = Field(
        None,
        description="How the fleet is monitored; without this table, monitoring is on if any node has monitor = true.",
    )
    silences: dict[Name, Silence] = Field(
        default_factory=dict, description="Warnings that you have decided to accept, by a name of your choice."
    )

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, sorted by name. Names are unique across all node tables."""
        tables: tuple[tuple[str, dict[str, Any]], ...] = tuple((table, getattr(self, table)) for table in NODE_TABLES)
        return tuple(
            sorted(
                (Node(table, name, node) for table, nodes in tables for name, node in nodes.items()),
                key=lambda n: n.name,
            )
        )

    @cached_property
    def nodes_by_host(self) -> dict[str, tuple[Node, ...]]:
        """The nodes of each host that has any, sorted by name."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(node.settings.host, []).append(node)
        return {host: tuple(nodes) for host, nodes in sorted(found.items())}

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        """All avatar stacks, sorted by name."""
        return tuple(Stack(name, settings) for name, settings in sorted(self.avatars.items()))

    @cached_property
    def stacks_by_host(self) -> dict[str, tuple[Stack, ...]]:
        """The avatar stacks of each host that has any, sorted by name; a rule refuses a second one."""
        found: dict[str, list[Stack]] = {}
        for stack in self.stacks:
            found.setdefault(stack.settings.host, []).append(stack)
        return {host: tuple(stacks) for host, stacks in sorted(found.items())}

    @cached_property
    def placed_runners(self) -> tuple[PlacedRunner, ...]:
        """The live runners that fleetc starts, sorted by name."""
        return tuple(
            PlacedRunner(name, runner.host, runner.port, runner)
            for name, runner in sorted(self.runners.items())
            if runner.host is not None and runner.port is not None
        )

    @cached_property
    def runners_by_host(self) -> dict[str, tuple[PlacedRunner, ...]]:
        """The live runners of each host on which fleetc starts any, sorted by name."""
        found: dict[str, list[PlacedRunner]] = {}
        for placed in self.placed_runners:
            found.setdefault(placed.host, []).append(placed)
        return {host: tuple(placed) for host, placed in sorted(found.items())}

    @cached_property
    def nodes_by_wallet(self) -> dict[str, tuple[Node, ...]]:
        """The nodes that hold each wallet, sorted by name."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            if isinstance(node.settings, ChainSettings) and node.settings.wallet is not None:
                found.setdefault(node.settings.wallet, []).append(node)
        return {wallet: tuple(nodes) for wallet, nodes in sorted(found.items())}

    @cached_property
    def workers_by_orchestrator(self) -> dict[str, tuple[Node, ...]]:
        """The remote workers that name each orchestrator of this fleet, sorted by name."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            if isinstance(node.settings, Transcoder | AiWorker) and node.settings.orchestrator in self.orchestrators:
                found.setdefault(node.settings.orchestrator, []).append(node)
        return {name: tuple(nodes) for name, nodes in sorted(found.items())}

    @cached_property
    def streams_by_gateway(self) -> dict[str, tuple[str, ...]]:
        """The names of the streams that are sent to each gateway of this fleet, sorted."""
        found: dict[str, list[str]] = {}
        for name, stream in sorted(self.streams.items()):
            if stream.gateway in self.gateways:
                found.setdefault(str(stream.gateway), []).append(name)
        return {gateway: tuple(names) for gateway, names in found.items()}

    @cached_property
    def answers(self) -> defaultdict[object, dict[str, Any]]:
        """The cached answers of `answer`, by question and the name of their subject."""
        return defaultdict(dict)

    def answer(self, ask: Callable[[Fleet, Subject], T], subject: Subject) -> T:
        """The answer of `ask` about a node or a stack of this fleet, calculated once: see `once` in `answers.py`."""
        known: dict[str, T] = self.answers[ask]
        try:
            return known[subject.name]
        except KeyError:
            found = known[subject.name] = ask(self, subject)
            return found

    def answer_of_all(self, ask: Callable[[Fleet], T]) -> T:
        """The answer of `ask` about this whole fleet, calculated once: see `once_for_all` in `answers.py`."""
        known: dict[str, T] = self.answers[ask]
        try:
            return known[""]
        except KeyError:
            found = known[""] = ask(self)
            return found

    @cached_property
    def started_by_name(self) -> dict[str, Node | PlacedRunner]:
        """Every node and every live runner that fleetc starts, by its name, which no two of them share."""
        started: tuple[Node | PlacedRunner, ...] = (*self.nodes, *self.placed_runners)
        return {one.name: one for one in started}

    @cached_property
    def nodes_by_name(self) -> dict[str, Node]:
        """The node of each name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def suggestions(self) -> Suggestions:
        """Similar names for unknown ones. The reference checks and the rules each restart it for their own run."""
        return Suggestions()

    @property
    def on_chain(self) -> bool:
        """Whether payments run on a chain."""
        return self.fleet.network != "offchain"
