"""What follows from a journal: where the nodes of a fleet may be, and what the last rollouts did.

In: entries. Out: `History`. Pure. Facts of lines are as fleetc wrote them, because the chain of the lines is checked
before; so nothing here is validated again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fleetc.rollout.journal.lines import Entry

MAY_RUN = ("unknown", "quarantined")
"""Results after which nobody knows whether a host runs its nodes of before or those that it was given."""

GONE = ("retired", "dead")
"""Results after which a host that left the spec is forgotten: it runs nothing any more, or a person says so."""


class Place(NamedTuple):
    """How a machine is reached."""

    address: str
    port: int
    user: str
    become: bool


class Given(NamedTuple):
    """What a run gave a host: where it is, its release and its nodes, each with what only one may do at a time."""

    place: Place
    release: str
    nodes: Mapping[str, tuple[str, ...]]


class Change(NamedTuple):
    """What became of a host in a run: digests of its releases before and after."""

    result: str
    before: str
    after: str


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
    changes: dict[str, Change] = field(default_factory=dict)
    exit_code: int | None = None
    releases: dict[str, str] = field(default_factory=dict)
    """What each host of the fleet ran when it ended, as far as that is known."""
    shard: str = ""


@dataclass(slots=True)
class History:
    """All runs, and what each host was last given, as far as it may still run it."""

    runs: list[Run] = field(default_factory=list)
    hosts: dict[str, Given] = field(default_factory=dict)

    @property
    def broken_off(self) -> Run | None:
        """The last run, if it has no end."""
        return self.runs[-1] if self.runs and self.runs[-1].exit_code is None else None


def history_of(entries: Iterable[Entry]) -> History:
    """Everything that a journal says, in one pass.

    Lines are begin and end of a run; batch, before hosts are changed, with what each is given; host, with what became
    of it; seen, with hosts that ran what they were to run already.
    """
    found = History()
    runs: dict[str, Run] = {}
    before: dict[str, Given | None] = {}
    releases: dict[str, str] = {}
    for entry in entries:
        facts = entry.facts
        if entry.what == "begin":
            runs[entry.run] = _run(entry)
            found.runs.append(runs[entry.run])
        elif entry.what == "batch":
            for host, told in facts["hosts"].items():
                before[host], runs[entry.run].given[host] = found.hosts.get(host), given_of(told)
                _take_note(found.hosts, runs[entry.run], host, "unknown", before[host])
        elif entry.what == "seen":
            for host, told in facts["hosts"].items():
                _keep(found.hosts, host, given_of(told))
        elif entry.what == "host":
            run, host = runs[entry.run], facts["host"]
            run.changes[host] = Change(facts["result"], facts["before"], facts["after"])
            _take_note(found.hosts, run, host, facts["result"], before.pop(host, found.hosts.get(host)))
        elif entry.what == "end":
            runs[entry.run].exit_code = facts["exit_code"]
            if runs[entry.run].given:
                releases = {host: given.release for host, given in found.hosts.items()}
            runs[entry.run].releases = releases
    return found


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
    """Keep what a host runs; the same machine under another name is none of its own any more."""
    for other in [name for name, known in hosts.items() if known.place[:2] == given.place[:2] and name != host]:
        del hosts[other]
    hosts[host] = given


def _run(entry: Entry) -> Run:
    facts = entry.facts
    hosts, shard = tuple(facts["hosts"]), facts["shard"]
    return Run(entry.run, facts["who"], entry.at, facts["kind"], facts["manifest"], hosts, shard=shard)


def facts_of(given: Given) -> dict[str, Any]:
    """What was given to a host, as a journal has it."""
    nodes = {node: list(exclusive) for node, exclusive in given.nodes.items()}
    return {**given.place._asdict(), "release": given.release, "nodes": nodes}


def given_of(told: Mapping[str, Any]) -> Given:
    """What was given to a host, from what a journal has."""
    place = Place(told["address"], told["port"], told["user"], told["become"])
    return Given(place, told["release"], {node: tuple(exclusive) for node, exclusive in told["nodes"].items()})
