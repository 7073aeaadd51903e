"""Questions, answers and findings, as plain values.

In: nothing. Out: types. Answers are untrusted data: text of any kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from fleetc.analysis.funds import Funds
from fleetc.blueprint.blueprint import Connection, HostBlueprint, Service
from fleetc.language.fleet import Fleet, Node
from fleetc.places.diagnostic import Path
from fleetc.planner.data import ProcessState
from fleetc.rollout.hosts.begun import RolloutStep

STACK = ""
"""The target of a question to the avatar stack's service: only its host knows the port."""

AVATARS = "avatars"
"""The node of questions for an avatar stack."""


class Inquiry(NamedTuple):
    """A GET that the host of a node makes: `where` such as http://127.0.0.1:7935, and a path. Nothing else is sent.

    Of the many metrics, the host only returns lines named in `metrics`.
    """

    node: str
    where: str
    path: str
    metrics: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """What its answer is called by."""
        return f"{self.node} {self.where}{self.path}"


class Reply(NamedTuple):
    """An answer: `status` is 0 if there is none; `reason` is why."""

    status: int
    body: str = ""
    reason: str = ""


class OtherSetting(NamedTuple):
    """A variable that a process reads and its release does not have; `overridden` by an argument that sets the same."""

    node: str
    variable: str
    overridden: bool


class Stranger(NamedTuple):
    """A process or a unit that is not of the fleet: what it is, its account, and whether it calls reward."""

    what: str
    account: str
    reward: bool


class Back(NamedTuple):
    """A rollback that was the last thing which rollouts did to a host: when, by whom, and the release it led to."""

    at: str
    who: str
    release: str


class Alert(NamedTuple):
    """A finding of the program on the host, such as a nearly empty wallet."""

    code: str
    message: str
    node: str
    severity: str


class Registered(NamedTuple):
    """The chain's data of an orchestrator's account; with a `reason`, unknown."""

    active: bool = False
    address: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """What one host said. With `unknown`, a reason, nothing is known of it.

    `known_as` is the machine's own record of fleet and host, ("", "") before its first rollout. `registrations` are by
    orchestrator.
    """

    host: str
    unknown: str = ""
    known_as: tuple[str, str] = ("", "")
    release: str = ""
    switch: bool = False
    quarantine: str = ""
    processes: tuple[ProcessState, ...] = ()
    steps: tuple[RolloutStep, ...] = ()
    settings: tuple[OtherSetting, ...] = ()
    strangers: tuple[Stranger, ...] = ()
    alerts: tuple[Alert, ...] = ()
    replies: Mapping[str, Reply] = field(default_factory=dict)
    registrations: Mapping[str, Registered] = field(default_factory=dict)


Kind = Literal["drift", "warning", "unknown"]
"""drift: differs from the review, or does not work. warning: as reviewed, but worth knowing. unknown: no answer, or an
invalid one."""


class Finding(NamedTuple):
    """One finding; `node` is "" for the host; `place` is that of the spec's value, or the node's."""

    kind: Kind
    code: str
    host: str
    node: str
    message: str
    place: Path
    help: str = ""


class Fact(NamedTuple):
    """A reported value to show, such as ("release", "0.9.1")."""

    host: str
    node: str
    name: str
    text: str


class UnknownError(Exception):
    """A check cannot tell; the text is the reason, for people."""


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """One running node, and its answers.

    `funds` is what it pays from, or None; `edges` are the connections that it begins.
    """

    fleet: Fleet
    host: HostBlueprint
    service: Service
    replies: Mapping[str, Reply]
    node: Node
    funds: Funds | None
    edges: tuple[Connection, ...]

    @property
    def place(self) -> Path:
        """Its table in the spec."""
        return (self.service.table, self.service.name)

    def reply(self, where: str, path: str) -> Reply:
        """What it answered. Raises UnknownError where there is no answer."""
        reply = self.replies.get(Inquiry(self.service.name, where, path).id)
        if reply is None or not reply.status:
            raise UnknownError(f"{where} does not answer: {reply.reason if reply else 'nobody asked it'}")
        return reply

    def found(self, kind: Kind, code: str, message: str, field_name: str = "", help: str = "") -> Finding:
        """A finding about it, at its table or at a field of it."""
        place = (*self.place, field_name) if field_name else self.place
        return Finding(kind, code, self.host.name, self.service.name, f"{self.service.name}: {message}", place, help)


Check = Callable[[NodeSeen], Iterator[Finding]]
"""Looks at one thing of a node. Raises UnknownError if it cannot tell."""
