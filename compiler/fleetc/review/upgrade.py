"""What another node release would mean for a fleet: what the spec must change, what is lost, what newly takes effect.

In: a checked spec, its sources and the release. Out: `Upgrade`, which compares the blueprint of today with the
blueprint for that release; `reports/upgrade.py` prints it. Works towards older releases too. Called by `cli/`.

The release takes the place of `fleet.node_release`. A node with a `node_release` of its own keeps it and is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel

from fleetc.blueprint.blueprint import Blueprint, Service
from fleetc.language.fleet import Fleet, Node
from fleetc.language.signing import talks_to_chain
from fleetc.language.worker import AiWorker
from fleetc.lower import lower
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Diagnostic, Severity
from fleetc.review.upgrade_here import HERE
from fleetc.toml.document import Source
from fleetc.upstream import FLAGS, NEWEST_RELEASE, Flag, Release, format_release
from fleetc.upstream.releases import ReleaseChange, between, unplaced

OVERLAY = "--to"
"""The name under which places in the report show the new release."""

_OFF = ("", "0", "0.0", "0s", "[]", 0, False)
_AI_GROUPS = ("ai", "live-ai")
_FLAG_OF_VARIABLE = {flag.env: flag.name for flag in FLAGS.values()}


class ReleaseFinding(NamedTuple):
    """One thing to know: a stable name (of a flag or a change), a sentence, and the nodes that it concerns, if any."""

    name: str
    text: str
    nodes: tuple[str, ...]


class LineChange(NamedTuple):
    """What goes from the launch lines of some nodes and what comes: words, variables by name, files by name."""

    nodes: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True)
class Upgrade:
    """The whole comparison. `lines` is None when the spec does not compile for the release yet."""

    fleet: str
    source: Release
    target: Release
    sources: tuple[Source, ...]
    checked: Checked
    appeared: tuple[Diagnostic, ...]
    gone: tuple[Diagnostic, ...]
    kept: tuple[ReleaseFinding, ...]
    lost: tuple[ReleaseFinding, ...]
    renamed: tuple[ReleaseFinding, ...]
    defaults: tuple[ReleaseFinding, ...]
    changes: tuple[ReleaseFinding, ...]
    lines: tuple[LineChange, ...] | None

    @property
    def must_change(self) -> bool:
        """Whether the spec has errors for the release that it does not have today."""
        return any(d.severity is Severity.ERROR for d in self.appeared)


def compare(base: Checked, sources: Sequence[Source], target: Release) -> Upgrade:
    """Compare a sound spec with itself for another release. `base` is `check_spec(sources)`, without errors."""
    assert base.fleet is not None  # noqa: S101  # the precondition
    fleet = base.fleet
    overlaid = (*sources, Source(OVERLAY, f'[fleet]\nnode_release = "{format_release(target)}"\n'))
    checked = check_spec(overlaid)
    before, after = _services(lower(fleet)), _services(lower(_moved(fleet, target)))
    moves = [
        _Move(fleet, node, before[node.name], after[node.name], target, talks_to_chain(fleet, node))
        for node in fleet.nodes
        if node.settings.node_release is None
    ]
    return Upgrade(
        fleet=fleet.fleet.name,
        source=fleet.fleet.node_release,
        target=target,
        sources=overlaid,
        checked=checked,
        appeared=_difference(checked.diagnostics, base.diagnostics),
        gone=_difference(base.diagnostics, checked.diagnostics),
        kept=_kept(fleet, target),
        lost=_findings(moves, _lost),
        renamed=_findings(moves, _renamed),
        defaults=_findings(moves, _defaults),
        changes=(*_findings(moves, _changes), *_spared(moves), *_order(fleet, target)),
        lines=None if checked.fleet is None else _lines(moves),
    )


@dataclass(frozen=True)
class _Move:
    """One node that gets the release: its service today and then."""

    fleet: Fleet
    node: Node
    service: Service
    then: Service
    new: Release
    on_chain: bool

    @property
    def old(self) -> Release:
        return self.service.release

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


def _moved(fleet: Fleet, target: Release) -> Fleet:
    """The fleet with another release. A rule may refuse it, but lowering still works, as the rest of the fleet is
    sound. Its blueprint shows lost and renamed settings.
    """
    fields = {name: getattr(fleet, name) for name in Fleet.model_fields}  # and nothing computed from them
    fields["fleet"] = fleet.fleet.model_copy(update={"node_release": target})
    return Fleet.model_construct(fleet.model_fields_set, **fields)


def _services(blueprint: Blueprint) -> dict[str, Service]:
    return {service.name: service for host in blueprint.hosts for service in host.services}


def _flags(service: Service) -> frozenset[str]:
    variables = [variable.name for variable in service.variables] + [secret.name for secret in service.secrets]
    named = (_FLAG_OF_VARIABLE[name] for name in variables if name in _FLAG_OF_VARIABLE)
    return frozenset([*(argument.flag for argument in service.arguments), *named])


def _difference(here: Iterable[Diagnostic], there: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics of `here` that `there` does not have in the same place; sentences may name the release."""
    known = {(d.severity, d.code, d.primary.place) for d in there}
    return tuple(d for d in here if (d.severity, d.code, d.primary.place) not in known)


def _findings(moves: list[_Move], find: Callable[[_Move], Iterator[tuple[str, str]]]) -> tuple[ReleaseFinding, ...]:
    """What a question finds about all nodes; equal answers become one. Answers keep their order."""
    nodes: dict[tuple[str, str], list[str]] = {}
    for move in moves:
        for answer in find(move):
            nodes.setdefault(answer, []).append(move.node.name)
    return tuple(ReleaseFinding(name, text, tuple(names)) for (name, text), names in nodes.items())


def _kept(fleet: Fleet, target: Release) -> tuple[ReleaseFinding, ...]:
    return tuple(
        ReleaseFinding(
            format_release(own),
            f'{node.table}.{node.name}.node_release = "{format_release(own)}" stays as it is',
            (node.name,),
        )
        for node in fleet.nodes
        if (own := node.settings.node_release) is not None and own != target
    )


def _lost(move: _Move) -> Iterator[tuple[str, str]]:
    """Flags on the line that the new release does not have or does not heed, unless another name takes their place."""
    for name in sorted(move.flags):
        flag = FLAGS.get(name)
        if flag is None:
            continue  # of a release that is newer than the tables
        if not flag.acts_in(move.old) or flag.acts_in(move.new) or _other_name(flag, move.flags_then) is not None:
            continue
        new = format_release(move.new)
        if flag.since > move.new:
            yield name, f"-{name}: {new} does not have it; it came with {format_release(flag.since)}"
        elif flag.known_to(move.new):
            yield name, f"-{name}: it has no effect in {new}"
        else:
            yield name, f"-{name}: {new} no longer has it"


def _other_name(flag: Flag, names: Iterable[str]) -> str | None:
    """The older or newer name of the same thing among some flags."""
    known = sorted(name for name in names if name in FLAGS)
    return next((n for n in known if n == flag.replaced_by or FLAGS[n].replaced_by == flag.name), None)


def _renamed(move: _Move) -> Iterator[tuple[str, str]]:
    for name in sorted((move.flags - move.flags_then) & FLAGS.keys()):
        other = _other_name(FLAGS[name], move.flags_then - move.flags)
        if other is not None:
            yield name, f"-{name} becomes -{other}"


def _defaults(move: _Move) -> Iterator[tuple[str, str]]:
    """Flags that take effect without being on the line: new ones with a default, and changed unset states."""
    first, last = sorted((move.old, move.new))
    for flag in sorted(FLAGS.values(), key=lambda flag: (flag.since, flag.name)):
        if not first < flag.since <= last or flag.default in _OFF or flag.name in move.flags | move.flags_then:
            continue
        if not flag.roles & {"any", *move.roles} or (flag.group in _AI_GROUPS and move.mode == "video"):
            continue
        if move.old < move.new:
            yield flag.name, f"-{flag.name} came with {format_release(flag.since)} and is {flag.default} when unset"
        else:
            yield flag.name, f"-{flag.name} came with {format_release(flag.since)}; until then there is no such setting"
    for change, text in _crossed(move):
        if change.unset:
            yield change.unset, f"-{change.unset} is unset: {text}"


def _changes(move: _Move) -> Iterator[tuple[str, str]]:
    for change, text in _crossed(move):
        here = _here(change, move)
        if not change.unset and here is not None:
            yield change.name, f"{text}; {here}" if here else text


def _here(change: ReleaseChange, move: _Move) -> str | None:
    """What the values of the spec say of a change; None if it does not concern the node after all."""
    answer = HERE.get(change.name)
    return "" if answer is None else answer(move.fleet, move.node, move.service)


def _spared(moves: list[_Move]) -> Iterator[ReleaseFinding]:
    """Changes that would concern nodes of the spec with other values."""
    by_change: dict[tuple[str, str], list[str | None]] = {}
    for move in moves:
        for change, text in _crossed(move):
            by_change.setdefault((change.name, text), []).append(_here(change, move))
    for (name, text), here in by_change.items():
        if all(words is None for words in here):
            yield ReleaseFinding(name, f"{text}; that is so for no node of this spec", ())


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


def _order(fleet: Fleet, target: Release) -> Iterator[ReleaseFinding]:
    """Who goes first: an orchestrator refuses AI workers of an older release than its own."""
    pairs = [
        (node.name, name)
        for name, workers in fleet.workers_by_orchestrator.items()
        for node in workers
        if isinstance(node.settings, AiWorker) and node.settings.node_release is None
    ]
    if not pairs or fleet.fleet.node_release == target:
        return
    up = fleet.fleet.node_release < target
    first = sorted({worker if up else orchestrator for worker, orchestrator in pairs})
    text = "an orchestrator refuses AI workers with an older release than its own: deploy these nodes first"
    yield ReleaseFinding("ai-workers-first" if up else "orchestrators-first", text, tuple(first))


def _lines(moves: list[_Move]) -> tuple[LineChange, ...]:
    """The differences of the launch lines; nodes with the same difference stand together."""
    nodes: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for move in moves:
        old, new = _parts(move.service), _parts(move.then)
        changed = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
        removed = tuple(old[name][0] for name in changed if name in old)
        added = tuple(new[name][0] for name in changed if name in new)
        if changed:
            nodes.setdefault((removed, added), []).append(move.node.name)
    return tuple(LineChange(tuple(names), *difference) for difference, names in nodes.items())


def _parts(service: Service) -> dict[str, tuple[str, Any]]:
    """What a process is started with: how each part is shown, and what is compared. Variables show their names only."""
    release = format_release(service.release)
    program = f"program {service.program.path}, {release}" if service.program else f"image {service.image}"
    parts: dict[str, tuple[str, Any]] = {"": (program, "")}
    parts |= {f"-{a.flag}": (a.text, "") for a in service.arguments}
    parts |= {f"variable {v.name}": (f"variable {v.name}", v.value) for v in service.variables}
    parts |= {f"variable {s.name}": (f"variable {s.name}", (s.kind, s.reference)) for s in service.secrets}
    parts |= {f"file {f.name}": (f"file {f.name}", f.content) for f in service.files}
    return parts
