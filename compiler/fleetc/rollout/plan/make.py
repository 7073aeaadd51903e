"""Makes a sealed plan for a compiled fleet.

In: what was compiled and from what, the state of the hosts, times, and what a review found. Out: a `SealedPlan`. Pure:
the same input gives the same plan, so that a plan is checked by making it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint
from fleetc.blueprint.out import out_on, running_on
from fleetc.blueprint.shards import Shard, shards_of
from fleetc.emit.host_program import HOST_STEPS
from fleetc.emit.tree import Artifact, Tree
from fleetc.planner.data import HostState
from fleetc.planner.stacks import is_unit
from fleetc.planner.states import recorded_states, steps_between
from fleetc.review.data import Effect, Review
from fleetc.rollout.moves import Batches, CircleError, Nodes, arranged, handovers_of, moves_of
from fleetc.rollout.plan.data import (
    FORMAT,
    Action,
    Baseline,
    Comparison,
    FileDigest,
    HostActions,
    NodeRelease,
    SealedPlan,
    SecretName,
    SettingMade,
    SourceDigest,
    Tool,
)
from fleetc.toml.document import Source
from fleetc.upstream import format_release
from fleetc.version import __version__

NODE_PROGRAM = "go-livepeer"
STACK_PROGRAM = "avatar stack"
_INVENTORY = ("ansible/inventory.json", "ansible/rollout.json", "ansible/host_vars/")

Effects = Mapping[tuple[str, str], Sequence[Effect]]
"""What a change means, by host and node. ("edge-1", "") is the host as a whole, ("", "") the whole fleet."""


class Meaning(NamedTuple):
    """What a plan means, and what that comes from."""

    effects: Effects = MappingProxyType({})
    compared: tuple[Comparison, ...] = ()


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a plan: the sources, shipped files, and the compiled fleet."""

    sources: Sequence[Source]
    templates: Mapping[str, str]
    playbooks: Mapping[str, bytes]
    blueprint: Blueprint
    tree: Tree
    limit: frozenset[str] = field(default_factory=frozenset)
    """Names of hosts of the fleet; empty means all of them."""
    shard: Shard | None = None
    """The part of the fleet that the plan is for, where other machines roll out the others; `limit` is empty then."""
    settings: tuple[SettingMade, ...] = ()
    """The settings of the tool that the checkout makes, by name."""

    @property
    def hosts(self) -> tuple[HostBlueprint, ...]:
        """The hosts of the rollout, in Ansible's order."""
        chosen: Collection[str] = self.limit
        if self.shard is not None:
            chosen = shards_of(self.blueprint, self.shard.parts)[self.shard.number - 1]
        elif not self.limit:
            return self.blueprint.in_order
        return tuple(host for host in self.blueprint.in_order if host.name in chosen)


def make(
    inputs: Inputs, baseline: Baseline, left: Sequence[str], created: str, expires: str, meaning: Meaning
) -> SealedPlan:
    """The plan. `baseline` has a state of each host of the rollout; times are UTC, such as 2026-01-31T09:00:00Z."""
    effects = meaning.effects
    states = {state.host: state for state in baseline.hosts}
    wanted = wanted_states(inputs)
    chosen = {host.name for host in inputs.hosts}
    usual = [tuple(name for name in batch if name in chosen) for batch in inputs.blueprint.batches]
    batches = _batches([batch for batch in usual if batch], states, wanted)
    place = {host: number for number, host in enumerate(chain(*batches))}
    hosts = sorted(inputs.hosts, key=lambda host: place[host.name])
    return SealedPlan(
        format=FORMAT,
        tool=tool_of(inputs.templates, inputs.playbooks),
        fleet=inputs.blueprint.fleet,
        network=inputs.blueprint.network,
        created=created,
        expires=expires,
        spec=spec_of(inputs.sources),
        settings=inputs.settings,
        releases=tuple(_releases(inputs.hosts)),
        artifacts=tuple(_file(a) for a in inputs.tree.artifacts if not is_playbook(a.path)),
        playbooks=tuple(_file(a) for a in inputs.tree.artifacts if is_playbook(a.path)),
        inventory=_lines(f"{a.path} {a.mode:04o} {a.sha256}" for a in inputs.tree.artifacts if is_inventory(a.path)),
        whole=len(inputs.hosts) == len(inputs.blueprint.hosts),
        shard=str(inputs.shard or ""),
        batches=tuple(batches),
        steps=tuple(_steps(inputs, host, states[host.name], wanted[host.name], effects) for host in hosts),
        effects=tuple(effects.get(("", ""), ())),
        compared=meaning.compared,
        left=tuple(sorted(left)),
        secrets=tuple(sorted(_secrets(inputs.hosts), key=lambda s: (s.host, s.node, s.variable))),
        baseline=baseline,
    )


def _batches(usual: Batches, states: Mapping[str, HostState], wanted: Mapping[str, HostState]) -> Batches:
    """The batches without double runs, if the states are known; else the usual ones."""
    runs, wants = ({host: _nodes(side[host]) for batch in usual for host in batch} for side in (states, wanted))
    moves = moves_of(runs, wants)
    try:
        return arranged(usual, moves, handovers_of(runs, wants, moves))
    except CircleError:
        return usual  # the rollout refuses it with a reason


def _nodes(state: HostState) -> Nodes:
    """The nodes of a host, each with what only one process of the fleet may do; avatar slots move by themselves."""
    return {process.node: process.exclusive for process in state.processes if not is_unit(process)}


def wanted_states(inputs: Inputs) -> dict[str, HostState]:
    """What each host of the rollout runs at its end, by host."""
    states = recorded_states(inputs.tree)
    return {host.name: states[host.name] for host in inputs.hosts}


def tool_of(templates: Mapping[str, str], playbooks: Mapping[str, bytes]) -> Tool:
    """This fleetc, with one digest over the templates and playbooks that it brings."""
    shipped = {f"templates/{path}": text.encode() for path, text in templates.items()}
    shipped |= {f"playbooks/{path}": content for path, content in playbooks.items()}
    return Tool("fleetc", __version__, _lines(f"{path} {_sha256(shipped[path])}" for path in sorted(shipped)))


def spec_of(sources: Iterable[Source]) -> tuple[SourceDigest, ...]:
    """Names and digests of a spec and its overlays, as the manifest has them."""
    return tuple(SourceDigest(source.recorded_name, _sha256(source.text.encode())) for source in sources)


def effects_of(review: Review) -> Effects:
    """What a review found, by host and node, each with its own part; what means nothing is left out."""
    by_place: dict[tuple[str, str], list[Effect]] = {}
    for change in review.changes:
        for target, effects in change.parts or ((target, change.effects) for target in change.targets):
            place = by_place.setdefault((target.host, target.node), [])
            place += [effect for effect in effects if effect.impact != "none" and effect not in place]
    return by_place


def is_inventory(path: str) -> bool:
    """Whether a file of the tree describes hosts to Ansible."""
    return path.startswith(_INVENTORY)


def is_playbook(path: str) -> bool:
    """Whether a file of the tree has work for Ansible."""
    return path.startswith("ansible/") and not is_inventory(path)


def _steps(inputs: Inputs, host: HostBlueprint, now: HostState, wanted: HostState, effects: Effects) -> HostActions:
    order = [service.name for service in host.services]
    program, live = inputs.playbooks[HOST_STEPS], inputs.blueprint.live
    steps = steps_between(program, now, wanted, live, order, out_on(host))
    last = {step.node: step for step in steps if step.node}  # a node that moves is retired, then started
    actions = []
    for step in steps:
        means = effects.get((host.name, step.node), ()) if step is last.get(step.node) else ()
        actions.append(Action(step.do, step.node, step.digest, step.reason, tuple(means)))
    return HostActions(host.name, tuple(actions), tuple(effects.get((host.name, ""), ())))


def meaning_in(plan: SealedPlan) -> Meaning:
    """The stated meaning of a plan, in its given form."""
    effects: dict[tuple[str, str], Sequence[Effect]] = {("", ""): plan.effects}
    for step in plan.steps:
        effects[step.host, ""] = step.effects
        effects |= {(step.host, action.node): action.effects for action in step.actions if action.node}
    return Meaning(effects, plan.compared)


def _releases(hosts: Sequence[HostBlueprint]) -> Iterable[NodeRelease]:
    """The releases on the hosts, by program: of the node oldest first, of avatar stacks by name."""
    nodes = sorted({service.release for host in hosts for service in host.services})
    yield from (NodeRelease(NODE_PROGRAM, format_release(release)) for release in nodes)
    stacks = sorted({host.avatar.release for host in hosts if host.avatar is not None})
    yield from (NodeRelease(STACK_PROGRAM, release) for release in stacks)


def _secrets(hosts: Iterable[HostBlueprint]) -> Iterable[SecretName]:
    for host in hosts:
        for owner, secrets in running_on(host).secrets():
            for secret in secrets:
                yield SecretName(host.name, owner, secret.name, secret.kind, secret.reference)


def _file(artifact: Artifact) -> FileDigest:
    return FileDigest(artifact.path, f"{artifact.mode:04o}", artifact.sha256)


def _lines(lines: Iterable[str]) -> str:
    """One digest over several lines."""
    return _sha256("".join(f"{line}\n" for line in lines).encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
