"""Makes, stores, checks and carries out sealed plans: disk, clock and hosts for `rollout/plan/`.

In: sources, what ships, the tree's directory, settings. Out: a stored plan, or a verified one; `PlanRefusedError` with
every reason why a plan is not carried out. The time is a parameter, read at the very door.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from fleetc.blueprint.blueprint import HostBlueprint
from fleetc.blueprint.shards import Shard, read_shard
from fleetc.disk import files
from fleetc.disk.manifest import failure, read_path
from fleetc.disk.whole import need_regular, write_whole
from fleetc.emit.tree import MANIFEST, Tree, is_rolled_out
from fleetc.pipeline import compile_spec
from fleetc.planner.data import RECORDED, UNKNOWN, HostState
from fleetc.planner.fates import left_hosts
from fleetc.planner.states import RecordError, recorded_places, recorded_states, with_places_of_secrets
from fleetc.rollout.findings import NOT_REACHED
from fleetc.rollout.hosts import signatures
from fleetc.rollout.hosts.events import Event
from fleetc.rollout.hosts.observe import SSH_SAYS, observe
from fleetc.rollout.plan import judge
from fleetc.rollout.plan.data import Baseline, NewestPlan, PlanRefusedError, Refusal, SealedPlan, SettingMade
from fleetc.rollout.plan.document import decode, seal_of
from fleetc.rollout.plan.make import Inputs, Meaning, make, meaning_in, spec_of, tool_of, wanted_states
from fleetc.settings import Settings
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

SIGNATURE_ENDING = ".sig"
_LIMIT_BYTES = 512 * 1024 * 1024  # a plan of 10,000 nodes has 21 MB
_TIME = "%Y-%m-%dT%H:%M:%SZ"
LONGEST = timedelta(days=31)
"""The validity of a plan, when it is made and when it is carried out."""

_AHEAD = timedelta(minutes=5)
"""How far the clock of the machine that made a plan may be ahead of this one's."""


def clock() -> datetime:
    """The time now."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Around:
    """The inputs of a plan and of its checks: sources, shipped files, the tree's directory, the checkout's settings."""

    sources: Sequence[Source]
    templates: Mapping[str, str]
    playbooks: Mapping[str, bytes]
    target: Path
    settings: tuple[SettingMade, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """A plan that nothing on this machine speaks against, with what it was compiled from once more."""

    plan: SealedPlan
    seal: str
    inputs: Inputs
    signer: str | None

    @property
    def mark(self) -> NewestPlan:
        """The plan's mark for hosts."""
        return NewestPlan(self.plan.created, self.seal)


def recorded_baseline(inputs: Inputs, tree: Tree | None, name: str) -> tuple[Baseline, tuple[str, ...]]:
    """What the hosts run when `tree` is what was rolled out last, and hosts that only that tree has.

    `name` is what people call it. Without a tree nothing is known, nor of a host that may be another machine now.
    Raises PlanRefusedError plan-baseline-unreadable.
    """
    if tree is None:
        return Baseline("", tuple(_unknown(host, "nobody looked") for host in inputs.hosts)), ()
    try:
        states, places = recorded_states(tree), recorded_places(tree)
    except RecordError as problem:
        message = f"the tree of {visible(name)} cannot be a baseline: {problem}"
        advice = "name the tree that was rolled out last, unchanged"
        raise PlanRefusedError(Refusal("plan-baseline-unreadable", message, advice)) from None
    manifest = hashlib.sha256(tree.as_mapping()[MANIFEST].content).hexdigest()
    hosts = tuple(_recorded(host, states, places) for host in inputs.hosts)
    here = {host.name: (host.address, host.ssh_port) for host in inputs.blueprint.hosts}
    return Baseline(manifest, hosts), tuple(left_hosts(places, here))


def _recorded(host: HostBlueprint, states: Mapping[str, HostState], places: Mapping[str, tuple[str, int]]) -> HostState:
    """The tree's state of a host's machine: by name and address, not by name alone."""
    now = (host.address, host.ssh_port)
    then = places.get(host.name)
    if then == now:
        return states[host.name]
    if then is not None:
        was = f"{then[0]} port {then[1]}"
        return _unknown(host, visible(f"it was at {was}; if that is another machine, nothing is stopped there"))
    other = next((name for name, place in places.items() if place == now), None)
    if other is not None:
        return _unknown(host, visible(f"its machine was the host {other}"))
    return HostState(host.name, RECORDED)  # not part of the fleet then: it runs nothing of it


def observed_baseline(
    inputs: Inputs, baseline: Baseline, settings: Settings, on_event: Callable[[Event], None]
) -> Baseline:
    """The baseline by the hosts' own answers; silent ones are unknown."""
    states = observe(inputs.tree, [host.name for host in inputs.hosts], settings, on_event)
    recorded = {state.host: state for state in baseline.hosts}
    noted = {name: replace(seen.state, note=seen.state.note.partition(SSH_SAYS)[0]) for name, seen in states.items()}
    states_now = (with_places_of_secrets(noted[host.name], recorded[host.name]) for host in inputs.hosts)
    return replace(baseline, hosts=tuple(states_now))


def _unknown(host: HostBlueprint, note: str) -> HostState:
    return HostState(host.name, UNKNOWN, note=note)


def make_plan(
    inputs: Inputs, baseline: Baseline, left: Sequence[str], now: datetime, lifetime: timedelta, meaning: Meaning
) -> SealedPlan:
    """A plan made at `now`, good for `lifetime`."""
    return make(inputs, baseline, left, now.strftime(_TIME), (now + lifetime).strftime(_TIME), meaning)


def store(content: bytes, path: Path, key: Path | None) -> bool:
    """Write an encoded plan, and its signature beside it when there is a key; return whether an old one was removed.

    Nothing is written when it cannot be signed. Raises FilesError and PlanRefusedError.
    """
    need_regular(path, "plan-not-a-file", "name a file to write; without -o, fleetc only makes and shows the plan")
    signature = None if key is None else signatures.sign(content, key)
    beside = _signature_file(path)
    removed = False
    # Remove the signature of the earlier plan first: it must never be beside a plan that it does not belong to.
    try:
        with suppress(FileNotFoundError):
            beside.unlink()
            removed = signature is None
    except OSError as problem:
        raise failure(problem, str(beside), "replace") from problem
    write_whole(path, content)
    if signature is not None:
        write_whole(beside, signature)
    return removed


def _signature_file(path: Path) -> Path:
    return path.with_name(path.name + SIGNATURE_ENDING)


def verify(path: Path, around: Around, settings: Settings, limit: Sequence[str], now: datetime) -> Verified:
    """The plan in a file, once everything on this machine has been held against it. It asks no host.

    Raises FilesError and PlanRefusedError, which has all differences of the first kind of thing that differs.
    """
    content = _read(path, "plan-unreadable", "name the file that fleetc plan -o wrote")
    plan = decode(content)
    signer = _signer(path, content, settings)
    _refuse(
        judge.of_times(plan, now.strftime(_TIME), (now + _AHEAD).strftime(_TIME), _latest_end(plan)),
        judge.of_tool(plan, tool_of(around.templates, around.playbooks)),
        judge.of_settings(plan, around.settings),
        judge.of_spec(plan, spec_of(around.sources)),
    )
    compiled = compile_spec(around.sources, around.templates, around.playbooks)
    if compiled.blueprint is None or compiled.tree is None:
        message = "this fleetc finds errors in the spec that the plan's fleetc did not"
        raise PlanRefusedError(Refusal("plan-other-tool", message, "run fleetc check, then make a new plan"))
    _refuse(judge.of_hosts(plan, [host.name for host in compiled.blueprint.hosts], limit))
    shard = _shard(plan)
    named = frozenset(() if plan.whole or shard else (host for batch in plan.batches for host in batch))
    inputs = Inputs(
        around.sources,
        around.templates,
        around.playbooks,
        compiled.blueprint,
        compiled.tree,
        named,
        shard,
        around.settings,
    )
    _refuse(judge.of_baseline_hosts(plan, [host.name for host in inputs.hosts]))
    remade = make(inputs, plan.baseline, plan.left, plan.created, plan.expires, meaning_in(plan))
    _refuse(judge.of_contents(plan, remade), _of_tree(compiled.tree, around.target))
    return Verified(plan, seal_of(content), inputs, signer)


def _shard(plan: SealedPlan) -> Shard | None:
    """The part of the fleet that the plan is for. Raises PlanRefusedError."""
    try:
        return read_shard(plan.shard) if plan.shard else None
    except ValueError as problem:
        message = f"the plan's part of the fleet makes no sense: {visible(plan.shard)}: {problem}"
        raise PlanRefusedError(Refusal("plan-unreadable", message, "make a new plan and have it approved")) from None


def _latest_end(plan: SealedPlan) -> str:
    """The latest expiry of the plan; "" where its times are no dates, or not written as plans are."""
    try:
        created, expires = (datetime.strptime(time, _TIME).replace(tzinfo=UTC) for time in (plan.created, plan.expires))
        latest = created + LONGEST
    except (ValueError, OverflowError):
        return ""
    exact = (created.strftime(_TIME), expires.strftime(_TIME)) == (plan.created, plan.expires)
    return latest.strftime(_TIME) if exact else ""


class HostsVerdict(NamedTuple):
    """The hosts' answers about a valid plan: `reached` already run its result; `unmarked` have another newest plan."""

    reached: tuple[str, ...]
    unmarked: tuple[str, ...]


def verify_hosts(verified: Verified, settings: Settings, on_event: Callable[[Event], None]) -> HostsVerdict:
    """Ask the hosts, and compare the answers with the plan.

    Raises PlanRefusedError when a host moved, was given a newer plan, or cannot be asked.
    """
    plan = verified.plan
    hosts = [host.name for host in verified.inputs.hosts]
    seen = observe(verified.inputs.tree, hosts, settings, on_event)
    newest = {host: seen[host].newest for host in hosts}
    states = {host: seen[host].state for host in hosts}
    out = [host.name for host in verified.inputs.hosts if host.out is not None]
    away = [host for host in out if states[host].note.startswith(NOT_REACHED)]
    silent = {host for host in hosts if states[host].note.startswith(NOT_REACHED)} - {*out}
    behind = silent if len(silent) <= verified.inputs.blueprint.may_miss else set[str]()
    verdict = judge.of_baseline(plan, wanted_states(verified.inputs), states, [*away, *behind])
    _refuse(judge.of_newest(plan, verified.seal, newest), list(verdict.refusals))
    unmarked = tuple(
        host for host, given in newest.items() if host not in away and (not given or given.seal != verified.seal)
    )
    return HostsVerdict(tuple(host for host in verdict.reached if host not in behind), unmarked)


def _refuse(*groups: list[Refusal]) -> None:
    refusals = [refusal for group in groups for refusal in group]
    if refusals:
        raise PlanRefusedError(*refusals)


def _signer(path: Path, content: bytes, settings: Settings) -> str | None:
    """Who signed the plan; None if no signature is needed."""
    if settings.allowed_signers is None and settings.signer is None:
        return None
    if settings.allowed_signers is None:
        message = f"{visible(str(settings.signer))} must have signed the plan, but allowed_signers is not set: "
        advice = "set allowed_signers to the file with the keys of the people who may sign, or remove signer"
        raise PlanRefusedError(Refusal("plan-signers-missing", f"{message}fleetc cannot identify the signer", advice))
    allowed = settings.allowed_signers.expanduser()
    beside = _signature_file(path)
    if not os.path.lexists(beside):
        message = f"the plan is not signed: there is no {visible(beside.name)} beside it, and allowed_signers is set"
        raise PlanRefusedError(Refusal("plan-not-signed", message, "make the plan with --sign KEY, or have it signed"))
    signature = _read(beside, "plan-signature-bad", "store the signature beside the plan as it was written")
    return signatures.check(content, signature, allowed, settings.signer)


def _of_tree(tree: Tree, target: Path) -> list[Refusal]:
    """Why a plan of this tree is not carried out from a directory."""
    used = [path for path in files.strangers(tree, target).foreign if is_rolled_out(path)]
    return [*judge.of_foreign(used), *judge.of_tree(_stale(tree, target))]


def _stale(tree: Tree, target: Path) -> tuple[str, ...]:
    """How the tree on disk differs; a manifest that cannot be read is one of the differences. Raises FilesError."""
    files.need_tree(target)
    try:
        return files.stale(tree, target)
    except files.FilesError as problem:
        if problem.code != "manifest-unreadable":
            raise
        return (f"changed {MANIFEST}",)


def _read(path: Path, code: str, advice: str) -> bytes:
    """All of a regular file, never waiting for a FIFO or a device. Raises PlanRefusedError with `code`."""
    try:
        return read_path(path, _LIMIT_BYTES)
    except (OSError, ValueError) as problem:
        reason = os.strerror(problem.errno or 0) if isinstance(problem, OSError) else "not a path"
        raise PlanRefusedError(Refusal(code, f"{visible(str(path))} cannot be read: {reason}", advice)) from None
