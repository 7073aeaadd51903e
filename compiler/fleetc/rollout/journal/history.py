"""What follows from a journal: where the nodes of a fleet may be, and what the last rollouts did.

In: entries. Out: `History`. Pure. Facts of lines are as fleetc wrote them, because the chain of the lines is checked
before; so nothing here is validated again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fleetc.rollout.journal.lines import JournalEntry

MAY_RUN = ("unknown", "quarantined")
"""Results that leave unknown whether a host runs its old or its new nodes."""

GONE = ("retired", "dead")
"""Results that make the journal forget a host that left the spec: it runs nothing, or a person states so."""


class Login(NamedTuple):
    """How a machine is reached."""

    address: str
    port: int
    user: str
    become: bool


class Given(NamedTuple):
    """What a run gave a host: where it is, its release and its nodes, each with what only one may do at a time."""

    place: Login
    release: str
    nodes: Mapping[str, tuple[str, ...]]


class HostChange(NamedTuple):
    """What became of a host in a run: digests of its releases before and after."""

    result: str
    before: str
    after: str
    restarted: tuple[str, ...] = ()


@dataclass(slots=True)
class Run:
    """One rollout over `hosts`, or over all where there are none, or over `shard`, a part of the fleet such as 3/10.

    `exit_code` is None where it broke off.
    """

    id: str
    who: str
    begun: str
    kind: str
    manifest: str
    hosts: tuple[str, ...]
    given: dict[str, Given] = field(default_factory=dict)
    changes: dict[str, HostChange] = field(default_factory=dict)
    exit_code: int | None = None
    releases: dict[str, str] = field(default_factory=dict)
    """What each host of the fleet ran at its end, if known."""
    shard: str = ""
    seal: str = "-"
    commit: str = ""
    """What the checkout was at when it began; "" outside of one."""

    ended: str = ""


@dataclass(slots=True)
class History:
    """All runs, and what each host was last given, as far as it may still run it."""

    runs: list[Run] = field(default_factory=list)
    hosts: dict[str, Given] = field(default_factory=dict)
    behind: dict[str, str] = field(default_factory=dict)
    """The hosts that rollouts left behind and none has changed or found as wanted since, and since when."""

    @property
    def broken_off(self) -> Run | None:
        """The last run, if it has no end."""
        return self.runs[-1] if self.runs and self.runs[-1].exit_code is None else None


def history_of(entries: Iterable[JournalEntry]) -> History:
    """The whole content of a journal, in one pass.

    Lines are begin and end of a run; batch, before changes, with each new release; host, with its result; seen, with
    hosts already up to date; behind, with hosts that are left behind.
    """
    history = History()
    runs: dict[str, Run] = {}
    before: dict[str, Given | None] = {}
    releases: dict[str, str] = {}
    for entry in entries:
        facts = entry.facts
        if entry.what == "begin":
            runs[entry.run] = _run(entry)
            history.runs.append(runs[entry.run])
        elif entry.what == "batch":
            for host, given in facts["hosts"].items():
                before[host], runs[entry.run].given[host] = history.hosts.get(host), given_of(given)
                _take_note(history.hosts, runs[entry.run], host, "unknown", before[host])
        elif entry.what == "seen":
            for host, given in facts["hosts"].items():
                _keep(history.hosts, host, given_of(given))
                history.behind.pop(host, None)
        elif entry.what == "behind":
            for host in facts["hosts"]:
                history.behind.setdefault(host, entry.at)
            for host in [host for host in before if host in runs[entry.run].given]:  # its batch begins again without it
                _take_note(history.hosts, runs[entry.run], host, "old", before.pop(host))
        elif entry.what == "host":
            run, host = runs[entry.run], facts["host"]
            run.changes[host] = HostChange(
                facts["result"], facts["before"], facts["after"], tuple(facts.get("restarted", ()))
            )
            history.behind.pop(host, None)
            _take_note(history.hosts, run, host, facts["result"], before.pop(host, history.hosts.get(host)))
        elif entry.what == "end":
            runs[entry.run].exit_code, runs[entry.run].ended = facts["exit_code"], entry.at
            if runs[entry.run].given:
                releases = {host: given.release for host, given in history.hosts.items()}
            runs[entry.run].releases = releases
    return history


def _take_note(hosts: dict[str, Given], run: Run, host: str, result: str, before: Given | None) -> None:
    """Keep where a host's nodes may be after a step; `before` is where they were when the step began."""
    given = run.given.get(host)
    if result in GONE:
        hosts.pop(host, None)
    elif result in ("new", "unchanged") and given is not None:
        _keep(hosts, host, given)
    elif result in MAY_RUN and given is not None:
        hosts[host] = given._replace(nodes={**(before.nodes if before else {}), **given.nodes})
    elif before is None:
        hosts.pop(host, None)
    else:
        hosts[host] = before


def _keep(hosts: dict[str, Given], host: str, given: Given) -> None:
    """Record what a host runs; the same machine under an old name is forgotten."""
    for other in [name for name, known in hosts.items() if known.place[:2] == given.place[:2] and name != host]:
        del hosts[other]
    hosts[host] = given


def _run(entry: JournalEntry) -> Run:
    facts = entry.facts
    hosts, shard = tuple(facts["hosts"]), facts["shard"]
    run = Run(entry.run, facts["who"], entry.at, facts["kind"], facts["manifest"], hosts, shard=shard)
    run.seal, run.commit = facts.get("seal", "-"), facts.get("commit", "")
    return run


def facts_of(given: Given) -> dict[str, Any]:
    """What was given to a host, as a journal has it."""
    nodes = {node: list(exclusive) for node, exclusive in given.nodes.items()}
    return {**given.place._asdict(), "release": given.release, "nodes": nodes}


def given_of(facts: Mapping[str, Any]) -> Given:
    """What was given to a host, from what a journal has."""
    place = Login(facts["address"], facts["port"], facts["user"], facts["become"])
    return Given(place, facts["release"], {node: tuple(exclusive) for node, exclusive in facts["nodes"].items()})
