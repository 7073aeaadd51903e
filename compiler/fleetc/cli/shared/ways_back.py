"""What was rolled out, and where hosts can go back to: runs and releases of the journal, and what going back means.

In: a journal, hosts, the spec and the settings. Out: lines. Called by `rollback`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fleetc.cli.shared.known_trees import KnownTrees
from fleetc.planner.data import RECORDED, UNKNOWN, HostState
from fleetc.rollout.hosts.journal import Journal
from fleetc.rollout.hosts.kept import Ran, releases_of, rolled_out
from fleetc.rollout.journal.history import MAY_RUN, History, Run
from fleetc.rollout.plan.data import Comparison
from fleetc.rollout.plan.make import Meaning
from fleetc.rollout.plan.meaning import meaning_of, trees_of
from fleetc.rollout.plan.summary import NOT_KNOWN, effect_line
from fleetc.rollout.reports.terminal import DID, RESULTS
from fleetc.settings import Settings
from fleetc.text.counting import first_of

_SHORT = 12
_NAMED = 12
_RUNS = 10


def telling(journal: Journal, back_to: Mapping[str, str], spec: Path, settings: Settings) -> Iterator[str]:
    """Where a rollback leads: for each release its hosts, when it was rolled out, and what it means."""
    history, trees = journal.history, KnownTrees(spec, settings, list(back_to), here=True, specs=journal.specs)
    hosts: dict[str, list[str]] = {}
    for host, release in back_to.items():
        hosts.setdefault(release, []).append(host)
    for release, named in hosts.items():
        known, meaning = _meaning(history, dict.fromkeys(named, release), trees)
        verb = "goes" if len(named) == 1 else "go"
        came = _came(rolled_out(history, named[0], release), known)
        yield f"{first_of(named, _NAMED)} {verb} back to the release {release[:_SHORT]}, {came}"
        yield from (f"    {line}" for line in _meant(meaning))


def listing(journal: Journal, names: Sequence[str], spec: Path, settings: Settings) -> Iterator[str]:
    """The last rollouts, then the releases that hosts had, by host, the newest first."""
    history, trees = journal.history, KnownTrees(spec, settings, names, here=True, specs=journal.specs)
    by_host = {name: releases_of(history, name) for name in names}
    if not any(by_host.values()):
        yield "the journal has no release of these hosts: no rollout with it changed one"
        return
    yield f"rollouts, the newest first, {_RUNS} at most"
    for run in [run for run in reversed(history.runs) if not run.hosts or set(run.hosts) & set(names)][:_RUNS]:
        yield from (f"  {line}" for line in _told(run))
    for name, releases in by_host.items():
        if releases:
            yield name
            yield from (f"  {line}" for line in _nodes(history, name))
            yield from (f"  {line}" for ran in releases for line in _listed(history, name, ran, trees))
    yield "fleetc rollback --to DIGEST --check asks the hosts whether they still keep a release"


def _told(run: Run) -> Iterator[str]:
    """A rollout: who began it and from what, how it ended, and what became of its hosts."""
    of = f" of {first_of(run.hosts, _NAMED)}" if run.hosts else f" of part {run.shard}" if run.shard else ""
    made = [f"plan {run.seal[:_SHORT]}"] if run.seal not in ("-", "") else []
    made += [f"checkout at {run.commit[:_SHORT]}"] if run.commit else []
    end = "it broke off" if run.exit_code is None else f"ended at {run.ended} with {run.exit_code}"
    yield f"{run.kind}{of} at {run.begun} by {run.who}: {', '.join([*made, end])}"
    results: dict[str, list[str]] = {}
    for host, change in run.changes.items():
        result = DID[run.kind][0] if change.result == "new" else RESULTS[change.result]
        results.setdefault(result, []).append(host)
    yield from (f"    {result}: {first_of(hosts, _NAMED)}" for result, hosts in results.items())


def _nodes(history: History, host: str) -> Iterator[str]:
    """Since when each node of a host runs, by the last rollout that restarted it."""
    given = history.hosts.get(host)
    for node in given.nodes if given else ():
        for run in reversed(history.runs):
            if host in run.changes and node in run.changes[host].restarted:
                yield f"{node}: last restarted by the {run.kind} at {run.begun} by {run.who}"
                break


def _listed(history: History, host: str, ran: Ran, trees: KnownTrees) -> Iterator[str]:
    known, meaning = _meaning(history, {host: ran.release}, trees)
    here = given_last(history, host)
    runs = here.known != UNKNOWN and here.release == ran.release
    yield f"{ran.release[:_SHORT]}  {'given last, ' if runs else ''}{_came(ran.run, known)}"
    if not runs:
        yield from (f"    {line}" for line in _meant(meaning))


def _came(run: Run | None, tree: str) -> str:
    """When a release came to its host, and which tree has it."""
    came = f"rolled out at {run.begun} by {run.who}" if run else "the journal has no time of its rollout"
    return f"{came}; it is in {tree}" if tree else came


def _meant(meaning: Meaning) -> Iterator[str]:
    """What a rollback means, or why that is unknown."""
    for (host, _), effects in meaning.effects.items():
        if host:  # what concerns the fleet as a whole stays as the spec has it
            yield from map(effect_line, effects)
    yield from (f"{NOT_KNOWN}, because {comparison.note}" for comparison in meaning.compared if not comparison.name)


def given_last(history: History, host: str) -> HostState:
    """What a host runs by the journal."""
    given = history.hosts.get(host)
    ended = next((run.changes[host].result for run in reversed(history.runs) if host in run.changes), "")
    if given is None or ended in MAY_RUN:
        return HostState(host, UNKNOWN, note="the journal does not have it")
    return HostState(host, RECORDED, given.release)


def _meaning(history: History, back_to: Mapping[str, str], trees: KnownTrees) -> tuple[str, Meaning]:
    """The tree that has the releases to go back to, "" without one, and what they mean against what hosts run."""
    wanted = {host: HostState(host, RECORDED, release) for host, release in back_to.items()}
    known = trees_of(wanted, trees)
    if len(known) != 1 or len(known[0].hosts) != len(back_to):
        note = f"the release to go back to is in no tree known here; {trees.why()}"
        return "", Meaning(compared=(Comparison(tuple(back_to), "", "", note),))
    states = [given_last(history, host) for host in back_to]
    return known[0].name, meaning_of(states, trees, known[0].side, trees.why)
