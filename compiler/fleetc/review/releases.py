"""What another release of the node does otherwise, beyond what its launch line shows.

In: two fleets and their blueprints. Out: sentences for the notes of a review, each with the nodes that it concerns.
Works towards older releases too. Called by `compare.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from fleetc.blueprint.blueprint import Blueprint, Service
from fleetc.language.fleet import Fleet, Node
from fleetc.language.signing import talks_to_chain
from fleetc.language.worker import AiWorker
from fleetc.review.impact.meanings import FLAG_OF_VARIABLE
from fleetc.review.releases_here import HERE
from fleetc.text.counting import first_of
from fleetc.upstream import FLAGS, NEWEST_RELEASE, Release, format_release
from fleetc.upstream.releases import ReleaseChange, between, unplaced

_OFF = ("", "0", "0.0", "0s", "[]", 0, False)
_AI_GROUPS = ("ai", "live-ai")
_SHOWN = 4


def release_notes(old: Fleet, new: Fleet, before: Blueprint, after: Blueprint) -> tuple[str, ...]:
    """What the nodes that get another release do otherwise; nothing if no node does."""
    services, then = _services(before), _services(after)
    moves = [
        _Move(old, node, services[node.name], then[node.name], talks_to_chain(old, node))
        for node in old.nodes
        if node.name in services and node.name in then and services[node.name].release != then[node.name].release
    ]
    questions = (_idle, _defaults, _changes)
    notes = [note for question in questions for note in _notes(moves, question)] if moves else []
    return (*notes, *(_order(new, moves) if moves else ()), *_kept(old, new))


@dataclass(frozen=True)
class _Move:
    """One node that gets the release: its service today and then."""

    fleet: Fleet
    node: Node
    service: Service
    then: Service
    on_chain: bool

    @property
    def old(self) -> Release:
        return self.service.release

    @property
    def new(self) -> Release:
        return self.then.release

    @cached_property
    def flags(self) -> frozenset[str]:
        return _flags(self.service)

    @cached_property
    def flags_then(self) -> frozenset[str]:
        return _flags(self.then)

    @cached_property
    def roles(self) -> frozenset[str]:
        """The node's role, and those whose work it does itself."""
        local = {"transcoder": "transcoder", "aiWorker": "ai-worker"}
        return frozenset({self.service.role, *(role for flag, role in local.items() if flag in self.flags)})

    @property
    def mode(self) -> str:
        """What it does: workers have no mode in the spec, and do one thing."""
        return {"transcoder": "video", "ai-worker": "ai"}.get(self.service.role, self.service.mode)


def _services(blueprint: Blueprint) -> dict[str, Service]:
    return {service.name: service for host in blueprint.hosts for service in host.services}


def _flags(service: Service) -> frozenset[str]:
    variables = [variable.name for variable in service.variables] + [secret.name for secret in service.secrets]
    named = (FLAG_OF_VARIABLE[name] for name in variables if name in FLAG_OF_VARIABLE)
    return frozenset([*(argument.flag for argument in service.arguments), *named])


def _notes(moves: list[_Move], question: Callable[[_Move], Iterator[str]]) -> Iterator[str]:
    """The answers of all nodes to a question; equal answers become one, with their nodes."""
    nodes: dict[str, list[str]] = {}
    for move in moves:
        for answer in question(move):
            nodes.setdefault(answer, []).append(move.node.name)
    for answer, names in nodes.items():
        yield f"{answer} ({_of(names)})"


def _of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} nodes: {first_of(names, _SHOWN)}"


def _kept(old: Fleet, new: Fleet) -> Iterator[str]:
    """The nodes that a new release of the fleet does not reach."""
    names = [node.name for node in new.nodes if node.settings.node_release is not None]
    if names and old.fleet.node_release != new.fleet.node_release:
        yield f"nodes with a node_release of their own keep it ({_of(names)})"


def _idle(move: _Move) -> Iterator[str]:
    """Flags that stay on the line, and that the new release does not heed."""
    for name in sorted(move.flags & move.flags_then & FLAGS.keys()):
        if FLAGS[name].acts_in(move.old) and not FLAGS[name].acts_in(move.new):
            yield f"-{name} has no effect in {format_release(move.new)}"


def _defaults(move: _Move) -> Iterator[str]:
    """Flags that take effect without being on the line: new ones with a default, and changed unset states."""
    first, last = sorted((move.old, move.new))
    for flag in sorted(FLAGS.values(), key=lambda flag: (flag.since, flag.name)):
        if not first < flag.since <= last or flag.default in _OFF or flag.name in move.flags | move.flags_then:
            continue
        if not flag.roles & {"any", *move.roles} or (flag.group in _AI_GROUPS and move.mode == "video"):
            continue
        if move.old < move.new:
            yield f"-{flag.name} came with {format_release(flag.since)} and is {flag.default} when unset"
        else:
            yield f"-{flag.name} came with {format_release(flag.since)}; until then there is no such setting"
    for change, text in _crossed(move):
        if change.unset:
            yield f"-{change.unset} is unset: {text}"


def _changes(move: _Move) -> Iterator[str]:
    for change, text in _crossed(move):
        answer = HERE.get(change.name)
        here = answer(move.fleet, move.node, move.service) if answer else ""
        if not change.unset and here is not None:
            yield f"{text}; {here}" if here else text


def _crossed(move: _Move) -> Iterator[tuple[ReleaseChange, str]]:
    """The changes between the two releases that concern a node, told for the direction it goes."""
    first, last = sorted((move.old, move.new))
    for facts in between(first, last):
        for change in facts.changes:
            if _concerns(change, move):
                release = format_release(facts.release)
                up = move.old < move.new
                yield change, f"from {release} on, {change.now}" if up else f"before {release}, {change.before}"
    if move.old <= NEWEST_RELEASE < move.new:
        for change in unplaced():
            if _concerns(change, move):
                yield change, f"in some release after {format_release(NEWEST_RELEASE)}, {change.now}"


def _concerns(change: ReleaseChange, move: _Move) -> bool:
    variables = {variable.name for variable in move.service.variables}
    return (
        (not change.roles or bool(move.roles & set(change.roles)))
        and (not change.modes or move.mode in change.modes)
        and (not change.on_chain or move.on_chain)
        and (not change.flags or bool(move.flags & set(change.flags)))
        and not move.flags & set(change.without)
        and (not change.unset or change.unset not in move.flags)
        and (not change.variables or bool(variables & set(change.variables)))
        and (not change.settings or any(_given(move.node.settings, name.split(".")) for name in change.settings))
    )


def _given(value: Any, parts: list[str]) -> bool:
    """Whether the spec gives a dotted setting; in a list, of any of its items."""
    if isinstance(value, tuple):
        return any(_given(item, parts) for item in value)
    if not parts or not isinstance(value, BaseModel):
        return value is not None and not parts
    return parts[0] in value.model_fields_set and _given(getattr(value, parts[0]), parts[1:])


def _order(fleet: Fleet, moves: list[_Move]) -> Iterator[str]:
    """Who goes first: an orchestrator refuses AI workers of an older release than its own."""
    up = {move.node.name: move.old < move.new for move in moves}
    pairs = [
        (worker.name, name)
        for name, workers in fleet.workers_by_orchestrator.items()
        for worker in workers
        if isinstance(worker.settings, AiWorker) and up.get(worker.name) is not None and name in up
    ]
    first = sorted({worker if up[worker] else name for worker, name in pairs})
    if first:
        text = "an orchestrator refuses AI workers with an older release than its own: deploy these nodes first"
        yield f"{text} ({_of(first)})"
