"""The sealed plan as plain values: everything that a rollout depends on, by digest, and everything it does.

In: nothing; made by `rollout/plan/make.py`, read back by `rollout/plan/document.py`. Out: `SealedPlan`. Every field
becomes a key of the plan's JSON. A secret is named here and never held, not even as a digest: plans are published, and
a digest can be guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleetc.planner.data import HostState, Step
from fleetc.review.data import Effect

FORMAT = 8
"""Version of the plan's format."""


@dataclass(frozen=True, slots=True)
class Tool:
    """The fleetc that made the plan; `shipped` is one digest of the templates and playbooks that came with it."""

    name: str
    version: str
    shipped: str


@dataclass(frozen=True, slots=True)
class SourceDigest:
    """A spec or an overlay: its file name, and the hex SHA-256 of its text with LF line ends."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class SettingMade:
    """A setting of the tool that a `file` of the checkout made, such as output; `value` as people write it."""

    file: str
    name: str
    value: str

    def __str__(self) -> str:
        return f'{self.name} = "{self.value}" ({self.file})'


@dataclass(frozen=True, slots=True)
class FileDigest:
    """One file of the tree; `mode` is four octal digits."""

    path: str
    mode: str
    sha256: str


@dataclass(frozen=True, slots=True)
class NodeRelease:
    """A release of a program that hosts run, such as ("go-livepeer", "v0.9.1") or ("avatar stack", "v1.3.6")."""

    program: str
    release: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the rollout starts from. `manifest` is the digest of the recorded tree's manifest, "" without a tree."""

    manifest: str
    hosts: tuple[HostState, ...]


@dataclass(frozen=True, slots=True)
class Action(Step):
    """One step on a host, and what it means there."""

    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class HostActions:
    """The steps on one host, in order, and what the change means for the host as a whole."""

    host: str
    actions: tuple[Action, ...]
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Where the effects on some hosts come from.

    `tree` is the manifest digest of the tree with their release, `name` its name for people. Both are "" if no such
    tree is known; then effects are unknown. `note` is why, or what cannot be compared.
    """

    hosts: tuple[str, ...]
    tree: str
    name: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class SecretName:
    """A secret of a node: the variable, and the source of its value. Never the value.

    `node` is "avatar" for a secret of the avatar stack.
    """

    host: str
    node: str
    variable: str
    kind: str
    reference: str


@dataclass(frozen=True, slots=True)
class SealedPlan:
    """A whole rollout, decided.

    `created` and `expires` are UTC, such as 2026-01-31T09:00:00Z. `whole`: no host of the fleet is left out; `shard` is
    the part of the fleet, such as 2/3, or "" where the plan is for no part. `settings` are those of the checkout, by
    name. `batches` are hosts in rollout order, `steps` the work on each, in the same order. `inventory` is one digest
    over Ansible's data of the hosts. `left` names hosts of the recorded tree that the fleet no longer has: a rollout
    retires those in its journal. `effects` concern the whole fleet; `compared` is the base of all effects.
    """

    format: int
    tool: Tool
    fleet: str
    network: str
    created: str
    expires: str
    spec: tuple[SourceDigest, ...]
    settings: tuple[SettingMade, ...]
    releases: tuple[NodeRelease, ...]
    artifacts: tuple[FileDigest, ...]
    playbooks: tuple[FileDigest, ...]
    inventory: str
    whole: bool
    shard: str
    batches: tuple[tuple[str, ...], ...]
    steps: tuple[HostActions, ...]
    effects: tuple[Effect, ...]
    compared: tuple[Comparison, ...]
    left: tuple[str, ...]
    secrets: tuple[SecretName, ...]
    baseline: Baseline


NO_PLAN = "-"
"""Used instead of the seal for a rollout without a plan."""


@dataclass(frozen=True, slots=True)
class NewestPlan:
    """The newest plan of a rollout on a host: its time in UTC, and its seal.

    Without a plan, the time of the rollout's beginning, and NO_PLAN. Each host keeps it for itself.
    """

    created: str
    seal: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a plan is not carried out: a stable code, what differs, and what to do about it."""

    code: str
    message: str
    help: str


class PlanRefusedError(Exception):
    """A plan must not be carried out. `exit_code` is 3 for a fault of the machine, else 1."""

    def __init__(self, *refusals: Refusal, exit_code: int = 1) -> None:
        super().__init__("; ".join(refusal.message for refusal in refusals))
        self.refusals = refusals
        self.exit_code = exit_code
