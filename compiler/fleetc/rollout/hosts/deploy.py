"""Rolls a fleet out, batch by batch: to a compiled tree, or back to releases that its hosts keep; or restarts nodes.

In: the tree and the blueprint it was made from, the journal of the fleet, and how to reach hosts. Out: an `Outcome`
with the result of each host. First every host reports its work; hosts without any are left out of the batches. Each
batch is one run of Ansible, and the next one begins when all hosts of the last one have confirmed their release. The
journal has a line before each step and after it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from fleetc.blueprint.blueprint import Blueprint
from fleetc.emit.ansible import seconds_of
from fleetc.emit.tree import MANIFEST, SPEC_FOLDER, Tree
from fleetc.planner.fates import left_hosts
from fleetc.rollout.findings import HostFinding
from fleetc.rollout.hosts.begun import Begun, RolloutStep, begun_of
from fleetc.rollout.hosts.behind import fell_silent, leave_behind, note_behind, stopped_by, with_canary
from fleetc.rollout.hosts.events import INTERRUPTED, Event, RunResult
from fleetc.rollout.hosts.gate import (
    ASKED_BEFORE,
    LET_GO,
    OBSERVE,
    TASKS,
    WITH_MOVES,
    HostOutcome,
    moment,
    outcomes,
    until_of,
)
from fleetc.rollout.hosts.journal import Journal
from fleetc.rollout.hosts.leaving import with_left
from fleetc.rollout.hosts.ordering import arrivals, keep_away, order_of, stopped
from fleetc.rollout.hosts.owner import this_run
from fleetc.rollout.hosts.processes import on_interrupt, restore
from fleetc.rollout.hosts.rolling import (
    BEGIN_PLAYBOOK,
    END_PLAYBOOK,
    NOTHING_STATED,
    OBSERVE_PLAYBOOK,
    Goal,
    Kind,
    Rollout,
    Stated,
    Watch,
    claimed,
    hosts_of,
    need_known,
    options_of,
    place_of,
)
from fleetc.rollout.hosts.runner import private_project, run_playbook
from fleetc.rollout.hosts.secret_commands import secret_values
from fleetc.rollout.hosts.stale import stale_hosts
from fleetc.rollout.journal.history import facts_of
from fleetc.rollout.moves import Move, moves_of
from fleetc.rollout.plan.data import NewestPlan
from fleetc.settings import Settings
from fleetc.text.counting import counted

SITE_PLAYBOOK = "site.yml"
ROLLBACK_PLAYBOOK = "rollback.yml"

_LOOKS = 3
_LOOK_SECONDS = 3.0
"""How often a host is asked whether it is still as the rollout left it, and how long after the answer before."""

_KNOWN_DEAD = 100
"""How many earlier rollouts of the journal are named to hosts as dead."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rollout did, host by host in the order of the rollout; `steps` are what each was to do."""

    hosts: tuple[HostOutcome, ...]
    steps: tuple[RolloutStep, ...]
    check: bool
    last_words: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    findings: tuple[HostFinding, ...] = ()
    kind: Kind = "deploy"
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """0 if every host runs its release, 5 if one is unknown or in quarantine, 4 if one went back, else 1."""
        results = {host.result for host in self.hosts}
        if results & {"unknown", "quarantined"}:
            return 5
        if "reverted" in results:
            return 4
        return 0 if results <= {"new", "unchanged", "retired", "dead", "out"} else 1


def deploy_tree(
    tree: Tree,
    blueprint: Blueprint,
    settings: Settings,
    limit: tuple[str, ...],
    check: bool,
    on_event: Watch,
    journal: Journal,
    goal: Goal | None = None,
    stated: Stated = NOTHING_STATED,
) -> Outcome:
    """Bring all hosts, or those in `limit` or of a shard, to the goal.

    Hosts that left the spec are retired, unless there is a limit.

    Raises DeployError before any host is touched, and FilesError where the journal cannot be written.
    """
    goal = goal or Goal()
    chosen = hosts_of(blueprint, limit, goal.shard)
    known, here = journal.history.hosts, {host.name: place_of(host)[:2] for host in blueprint.hosts}
    gone = [] if limit or goal.back_to else left_hosts({name: given.place[:2] for name, given in known.items()}, here)
    left = {name: known[name] for name in gone}
    every = _names(blueprint)
    need_known((*stated.clear, *stated.renamed), every)
    need_known(stated.dead, (*every, *left, *(given.place.address for given in journal.history.hosts.values())))
    hosts = tuple(host for host in chosen if host not in stated.dead)
    leaving = {name: given for name, given in left.items() if name not in stated.dead}
    values = {} if goal.kind != "deploy" or settings.worker else secret_values(blueprint, hosts, settings)
    options = options_of(settings, check, goal.sealed, stated)
    dead = {run.id for run in journal.history.runs[-_KNOWN_DEAD:]} | set(stated.dead_runs)
    whole = with_left(tree, blueprint, leaving)
    with private_project(whole) as project:
        rollout = Rollout(whole, project, blueprint, options, values, on_event, goal, journal, dead, leaving)
        if check:
            return _dry_run(rollout, hosts)
        _write_begin(rollout, tree, limit, stated)
        outcome: Outcome | None = None
        try:
            outcome = replace(_roll_out(rollout, hosts, stated), kind=goal.kind)
            return outcome
        finally:
            journal.write("end", exit_code=outcome.exit_code if outcome else 1)


def _dry_run(rollout: Rollout, hosts: tuple[str, ...]) -> Outcome:
    every = (*hosts, *rollout.left)
    begun, run = rollout.ask(every)
    halted = stopped_by(rollout, begun, leave_behind(rollout, begun))
    moves = moves_of({host: begun[host].runs for host in begun}, {host: begun[host].wants for host in begun})
    ends = (_not_begun(rollout, begun[host], halted, "new") for host in every)
    of_hosts = tuple(_leading(rollout, begun[end.host], end) for end in ends)
    return Outcome(of_hosts, _steps(begun), True, run.last_words, moves, _findings(begun), rollout.goal.kind)


def _leading(rollout: Rollout, begun: Begun, outcome: HostOutcome) -> HostOutcome:
    """A host of a dry run, with the release that a rollout would lead to."""
    if outcome.result != "new" or begun.host in rollout.left:
        return outcome
    return outcome._replace(after=rollout.given(begun.host, begun).release)


def _roll_out(rollout: Rollout, hosts: tuple[str, ...], stated: Stated) -> Outcome:
    every = (*hosts, *rollout.left)
    refused = rollout.missing_canary((*hosts, *stated.dead))
    if refused:
        return Outcome(tuple(HostOutcome(host, "old", f"not begun: {refused}") for host in every), (), False)
    previous = on_interrupt(rollout.interrupted, partial(rollout.on_event, INTERRUPTED))
    held: list[str] = []
    try:
        rollout.tell(f"asks {counted(len(every), 'host')} what there is to do")
        begun, run = claimed(rollout, every)
        held = [host for host in every if begun[host].needed and (begun[host].answered or rollout.interrupted.is_set())]
        rollout.ask_others(begun)
        outcome = _in_batches(rollout, hosts, begun, run, stated)
        confirmed = {host.host for host in outcome.hosts if host.result in ("new", "retired")}
        held = [host for host in held if host not in confirmed]
    except BaseException:
        _let_go(rollout, held)
        raise
    finally:
        restore(previous)
    answers = _let_go(rollout, held)
    until = {host: until_of(own[LET_GO]) for host, own in answers.items() if "format" in own.get(LET_GO, {})}
    until |= dict.fromkeys(keep_away(rollout, outcome.moves, outcome.hosts, until), "")
    ends = tuple(host._replace(until=until.get(host.host, host.until) if host.until else "") for host in outcome.hosts)
    return replace(outcome, hosts=ends, interrupted=rollout.interrupted.is_set())


def _let_go(rollout: Rollout, hosts: Sequence[str]) -> Mapping[str, Any]:
    """Let other rollouts at hosts; their answers say which of them go back by themselves, and when."""
    if not hosts:
        return {}
    rollout.tell(f"releases its claim on {counted(len(hosts), 'host')}")
    return rollout.run(END_PLAYBOOK, hosts).answers


def _in_batches(
    rollout: Rollout, hosts: tuple[str, ...], begun: dict[str, Begun], run: RunResult, stated: Stated
) -> Outcome:
    """All batches, after every host has reported its work."""
    every, journal = (*hosts, *rollout.left), rollout.journal
    refused, steps = leave_behind(rollout, begun), _steps(begun)
    moves, batches, blocked = order_of(rollout, begun, stated)
    halted = stopped_by(rollout, begun, refused or blocked)
    ends = {host: _not_begun(rollout, begun[host], halted, "old") for host in every}
    dead = [name for name in stated.dead if name in journal.history.hosts or name in _names(rollout.blueprint)]
    for host in dead:
        ends[host] = _assumed_dead(rollout, host)
    reported = (*every, *dead)
    if halted:
        return Outcome(tuple(ends[host] for host in reported), steps, False, run.last_words, moves, _findings(begun))
    _note_unchanged(rollout, begun, ends)
    note_behind(rollout)
    done: RunResult | None = None
    halted, touched = "", set[str]()
    working = {host for host, answer in begun.items() if answer.answered and answer.needed}
    work = with_canary(rollout, [some for batch in batches if (some := [host for host in batch if host in working])])
    for number, changing in enumerate(work, 1):
        if not halted:
            fallen = _fallen(rollout, begun, ends)
            ends |= fallen
            halted = f"not begun, because of {', '.join(fallen)}" if fallen else ""
            halted = "not begun: the rollout was interrupted" if rollout.interrupted.is_set() else halted
        if halted:
            ends |= {host: ends[host]._replace(result="old", reason=halted) for host in changing if host not in touched}
            continue
        if rollout.goal.sealed and done:
            gone = [move for move in moves if ends[move.target].result == "new"]
            stale = stale_hosts(rollout, begun, changing, gone)
            if stale:
                halted = f"not begun, because of {', '.join(stale)}"
                ends |= {host: ends[host]._replace(result="old", reason=stale.get(host, halted)) for host in changing}
                continue
        coming = [move for move in moves if move.target in changing and ends[move.source].result != "new"]
        done = _run_batch(rollout, f"batch {number} of {len(work)}", changing, begun, coming)
        latest = moment(time.time() + 90 + sum(seconds_of(rollout.blueprint.times).values()))  # 90 s to stop nodes
        before = {host: begun[host].release for host in changing}
        for outcome in outcomes(changing, done, before):
            undone = begun[outcome.host].undone if outcome.result == "new" and not rollout.goal.restart else ()
            until = (outcome.until or latest) if outcome.result == "unknown" else ""
            ends[outcome.host] = _retired(rollout, outcome._replace(undone=undone, until=until))
        silent = fell_silent(rollout, begun, moves, [ends[host] for host in changing])
        if silent:
            ends |= silent
            rest = [host for host in changing if host not in silent]
            work[number:number] = [rest] if rest else []
            continue
        bad = [host for host in changing if ends[host].result not in ("new", "unchanged", "retired")]
        without = stopped(coming, ends)
        ends |= without
        brought_back = _brought_back(rollout, coming, begun, ends) if bad else {}
        ends |= brought_back
        touched |= {*brought_back, *without}
        for host in {**dict.fromkeys(changing), **without}:
            _write_host(journal, ends[host])
        halted = f"not begun, because of {', '.join(bad)}" if bad else ""
    if done and not rollout.interrupted.is_set():
        ends |= _fallen(rollout, begun, ends)
    last_words = done.last_words if done else ()
    return Outcome(tuple(ends[host] for host in reported), steps, False, last_words, moves, _findings(begun))


def _run_batch(
    rollout: Rollout, title: str, changing: list[str], begun: Mapping[str, Begun], coming: Sequence[Move]
) -> RunResult:
    """Change the hosts of one batch."""
    given = {host: facts_of(rollout.given(host, begun[host])) for host in changing}
    rollout.on_event(Event("batch", "", title, ", ".join(changing)))
    rollout.journal.write("batch", hosts=given, moves=coming)
    done = rollout.run(
        ROLLBACK_PLAYBOOK if rollout.goal.back_to else SITE_PLAYBOOK,
        changing,
        tags=WITH_MOVES if coming else (),
        skip_tags=() if any(begun[host].carry for host in changing) else ASKED_BEFORE,
        fleet_host_claimed=True,
        fleet_host_arrivals=arrivals(coming),
    )
    rollout.on_event(Event("batch", "", "", ""))
    return done


def _fallen(rollout: Rollout, begun: Mapping[str, Begun], ends: Mapping[str, HostOutcome]) -> dict[str, HostOutcome]:
    """The hosts that this rollout changed and that are no longer as it left them, by more than one look."""
    hosts = [host for host, outcome in ends.items() if outcome.result == "new"]
    if hosts:
        rollout.tell(f"asks {counted(len(hosts), 'host')} that changed again")
    again: dict[str, Begun] = {}
    for look in range(_LOOKS if hosts else 0):
        rollout.interrupted.wait(_LOOK_SECONDS if look else 0)
        again = begun_of(hosts, rollout.run(OBSERVE_PLAYBOOK, hosts), OBSERVE)
        own = {host: (rollout.given(host, begun[host]).release, rollout.goal.restart.get(host, ())) for host in hosts}
        why = {host: again[host].against(*own[host]) for host in hosts}
        hosts = [host for host in hosts if why[host]]
        if not hosts or rollout.interrupted.is_set():  # an answer that did not come says nothing then
            return {}
    fallen = {}
    for host in hosts:
        result: Literal["unwell", "unknown"] = "unwell" if again[host].answered else "unknown"
        reason = f"it was well when it switched, and then: {'; '.join(why[host])}"
        fallen[host] = ends[host]._replace(result=result, reason=reason)
        _write_host(rollout.journal, fallen[host])
    return fallen


def _brought_back(
    rollout: Rollout, coming: Sequence[Move], begun: Mapping[str, Begun], ends: Mapping[str, HostOutcome]
) -> dict[str, HostOutcome]:
    """Start moved nodes again on their old hosts if the new host rolled back; returns the results."""
    sources: dict[str, list[str]] = {}
    for move in coming:
        if ends[move.target].result in ("old", "reverted"):
            sources.setdefault(move.source, []).append(move.node)
    back_to = {host: begun[host].release for host in sources if begun[host].release}
    if not back_to:
        return {}
    run = rollout.run(ROLLBACK_PLAYBOOK, list(back_to), fleet_host_back_to=back_to, fleet_host_claimed=True)
    changed = {}
    for outcome in outcomes(list(back_to), run):
        nodes = ", ".join(sources[outcome.host])
        if outcome.result == "new":
            changed[outcome.host] = outcome._replace(result="reverted", reason=f"{nodes} came back from its new host")
        elif outcome.result != "unchanged":
            reason = f"{nodes} did not come back: {outcome.reason}"
            changed[outcome.host] = outcome._replace(reason=reason)
        if outcome.host in changed:
            _write_host(rollout.journal, changed[outcome.host])
    return changed


def _not_begun(rollout: Rollout, begun: Begun, halted: str, result: Literal["new", "old"]) -> HostOutcome:
    """A host that the rollout has not changed: a dry run, or before its beginning. `halted` is why it has none."""
    outcome, away = begun.judged, rollout.away(begun)
    if away:
        return outcome._replace(result="out", reason=away)
    if begun.host in rollout.behind:
        return outcome._replace(result="behind")
    if begun.host in rollout.left and not begun.answered:
        return outcome._replace(result="orphan", reason=f"left the spec and {outcome.reason or 'does not answer'}")
    if begun.answered and not begun.needed:
        return _retired(rollout, outcome)
    if not begun.answered:
        return outcome._replace(result="old")
    if not halted:
        return outcome._replace(result=result, reason="")
    return outcome._replace(result="old", reason=f"not begun: {halted}")


def _retired(rollout: Rollout, outcome: HostOutcome) -> HostOutcome:
    """A host that left the spec and runs nothing any more is retired."""
    if outcome.host in rollout.left and outcome.result in ("new", "unchanged"):
        return outcome._replace(result="retired")
    return outcome


def _assumed_dead(rollout: Rollout, host: str) -> HostOutcome:
    """A host that a person states to be dead. The journal forgets it if it left the spec."""
    outcome = HostOutcome(host, "dead", "assumed dead, as stated")
    if host not in _names(rollout.blueprint):
        _write_host(rollout.journal, outcome)
    return outcome


def _findings(begun: Mapping[str, Begun]) -> tuple[HostFinding, ...]:
    return tuple(finding for answer in begun.values() for finding in answer.findings)


def _write_begin(rollout: Rollout, tree: Tree, limit: Sequence[str], stated: Stated) -> None:
    sealed, files = rollout.goal.sealed, tree.as_mapping()
    texts = {path: artifact.content for path, artifact in files.items() if path.startswith(SPEC_FOLDER)}
    if rollout.goal.kind == "deploy":
        rollout.journal.keep_spec(files[MANIFEST].sha256, texts)
    rollout.journal.write(
        "begin",
        kind=rollout.goal.kind,
        who=this_run()["who"],
        manifest=files[MANIFEST].sha256,
        seal=sealed.seal if sealed else "-",
        commit=rollout.journal.commit,
        hosts=list(limit),
        shard=str(rollout.goal.shard or ""),
        stated={name: list(value) for name, value in stated._asdict().items()},
    )


def _write_host(journal: Journal, outcome: HostOutcome) -> None:
    journal.write(
        "host",
        host=outcome.host,
        result=outcome.result,
        before=outcome.before,
        after=outcome.after,
        restarted=list(outcome.restarted),
        undone=list(outcome.undone),
        seconds=round(outcome.seconds),
        reason=outcome.reason,
    )


def _note_unchanged(rollout: Rollout, begun: Mapping[str, Begun], ends: Mapping[str, HostOutcome]) -> None:
    """Record hosts that are already up to date, what is wrong there, and retired hosts that left the spec."""
    known, journal = rollout.journal.history.hosts, rollout.journal
    seen = {}
    for host, answer in begun.items():
        if not answer.answered or answer.needed:
            continue
        if ends[host].result not in ("unchanged", "unknown"):
            _write_host(journal, ends[host])
        was_behind = host in journal.history.behind
        if host not in rollout.left and (was_behind or known.get(host) != rollout.given(host, answer)):
            seen[host] = facts_of(rollout.given(host, answer))
    if seen:
        journal.write("seen", hosts=seen)


def record_plan(
    tree: Tree, blueprint: Blueprint, settings: Settings, hosts: tuple[str, ...], on_event: Watch, sealed: NewestPlan
) -> Outcome:
    """Have hosts write down that a plan is the newest one they were given, though there is nothing to do."""
    names = hosts_of(blueprint, hosts)
    options = replace(options_of(settings, False, sealed), limit=names)
    options = replace(options, variables={**options.variables, "fleet_host_beginning": "record"})
    with private_project(tree) as project:
        done = run_playbook(project, BEGIN_PLAYBOOK, options, {}, on_event, TASKS)
    return Outcome(outcomes(names, done), (), False, done.last_words)


def _names(blueprint: Blueprint) -> list[str]:
    return [host.name for host in blueprint.hosts]


def _steps(begun: Mapping[str, Begun]) -> tuple[RolloutStep, ...]:
    return tuple(step for answer in begun.values() for step in answer.steps)
