"""What the first rollout of a spec does to the nodes that a host runs already, without fleetc.

In: what a host says that runs there, and the blueprint of a spec. Out: for each node of the spec on that host the
process that it takes the place of, every setting that would be another one, and whether the process restarts and why.

A process goes on if nothing about it would change and its unit has the name already that fleetc gives it: neither
systemd nor Docker moves a process from one name to another. Whether its secrets are those of the release only the host
can tell, so it compares them when the release comes, and restarts the node if they are others.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process
from fleetc.adopt.found.words import Unknown
from fleetc.adopt.node.host_paths import HOME, default_data_dir, home_of, known_host_path
from fleetc.adopt.node.reading import Running, running
from fleetc.adopt.read.on_host import Facts, Observed, observed
from fleetc.adopt.report.beside import beside_settings
from fleetc.adopt.report.compare import Difference, compare
from fleetc.adopt.report.pairing import Mark, paired
from fleetc.adopt.tables.unread import doubts
from fleetc.blueprint.blueprint import Blueprint, HostBlueprint, Service
from fleetc.text import leaks
from fleetc.text.encoders import visible

_LISTENERS = frozenset({"cliAddr", "httpAddr", "rtmpAddr", "serviceAddr"})


@dataclass(frozen=True)
class Taken:
    """A node of the spec. `process` is None where nothing runs that it would take the place of.

    `same` says by what the process was found, `changes` are settings and `other` what else differs, in words.
    """

    node: str
    process: Process | None = None
    facts: Facts | None = None
    same: str = ""
    compared: int = 0
    changes: tuple[Difference, ...] = ()
    other: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Files that the process reads its settings from, and that nobody has read."""
    refused: bool = False
    """Whether the preflight finds the ports of the node taken while the process runs."""

    @property
    def goes_on(self) -> bool:
        """Whether a rollout can keep the process."""
        facts = self.facts
        if (
            facts is None
            or self.changes
            or self.other
            or self.unread
            or facts.managed
            or facts.container
            or not facts.process
        ):
            return False
        return facts.unit == f"livepeer-{self.node}.service"


@dataclass(frozen=True)
class Takeover:
    """The plan for one host: its nodes, and the processes that are none of them."""

    host: str
    nodes: tuple[Taken, ...]
    left: tuple[tuple[Process, Facts], ...]


def take_over(host: str, answer: Mapping[str, Any], blueprint: Blueprint) -> Takeover:
    """The plan for a host of a blueprint. Raises SenselessAnswerError for an answer that makes no sense."""
    ledger = Ledger()
    seen = observed(host, answer, ledger)
    library = Library({source.name: source for source in seen.sources})
    there = [one for process in seen.processes if (one := running(process, library, Ledger())) is not None]
    place = next(one for one in blueprint.hosts if one.name == host)
    pairs = _pairs(place, there)
    nodes = [_taken(service, pairs.get(service.name), place, blueprint, seen, library) for service in place.services]
    paired = {one.process.span.source for one, _ in pairs.values()}
    left = [process for process in seen.processes if process.span.source not in paired]
    return Takeover(host, tuple(nodes), tuple((process, seen.facts[process.span.source]) for process in left))


def _pairs(place: HostBlueprint, there: list[Running]) -> dict[str, tuple[Running, str]]:
    """The process of each node: by its data directory, then by its account, then by its unit."""
    marks = (
        Mark[Service, Running](
            "the same data directory", lambda node: (node.table, node.data_dir), lambda one: _with(one, directory(one))
        ),
        Mark[Service, Running](
            "the same account", lambda node: _with(node, account(node)),
            lambda one: _with(one, one.text("ethAcctAddr").lower()),
        ),
        Mark[Service, Running](
            "the name of its unit or container", lambda node: (node.table, node.unit),
            lambda one: (one.table, one.process.name),
        ),
    )  # fmt: skip
    return {service.name: (one, how) for service, one, how in paired(place.services, there, marks)}


def _with(one: Service | Running, value: str | None) -> tuple[str, str] | None:
    return (one.table, value) if value else None


def directory(one: Running) -> str | None:
    """The data directory of a process, by its path on the host; None where nobody knows it."""
    if not one.text("dataDir") and not home_of(one.process) and one.process.unread:
        return None  # its home, or the directory itself, may stand among the variables
    text = one.text("dataDir") or default_data_dir(home_of(one.process) or HOME, one.network)
    return known_host_path(one.process, text)


def account(service: Service) -> str:
    """The account of a node, in small letters; "" where it has none."""
    return next((argument.value for argument in service.arguments if argument.flag == "ethAcctAddr"), "").lower()


def _taken(
    service: Service, pair: tuple[Running, str] | None, place: HostBlueprint, blueprint: Blueprint, seen: Observed,
    library: Library,
) -> Taken:  # fmt: skip
    if pair is None:
        return Taken(service.name)
    one, same = pair
    found = compare([replace(one, name=service.name)], blueprint, library)
    moves = not _LISTENERS.isdisjoint(change.flag for change in found.differences)
    return Taken(
        service.name, one.process, seen.facts[one.process.span.source], same, found.compared, found.differences,
        tuple(what.words for what in beside_settings(one, service, one.process, place)),
        tuple(sorted(secret.name for secret in service.secrets)),
        tuple(f"{doubt.words}, and was not read" for doubt in doubts([one])),
        bool(service.ports) and one.process.network == "host" and not moves,
    )  # fmt: skip


def as_text(plan: Takeover, kept: bool = False) -> str:
    """The plan for people; `kept` says that the host was just told which processes go on."""
    lines = [line for node in plan.nodes for line in (*_lines(node, plan.host, kept), "")]
    for process, facts in plan.left:
        lines.append(f"process {facts.pid} ({process.name}) is no node of the spec: fleetc leaves it alone")
    return "\n".join(_visible(line) for line in lines).rstrip("\n") + "\n"


def _visible(line: str) -> str:
    return visible(leaks.shown(line))


def _lines(node: Taken, host: str, kept: bool) -> list[str]:
    if node.process is None or node.facts is None:
        return [
            f"{node.node}: no process has its data directory, its account or its unit",
            "  the first rollout starts it new",
        ]
    facts = node.facts
    lines = [f"{node.node}: process {facts.pid} ({node.process.name}), by {node.same}"]
    if facts.managed:
        return [*lines, "  fleetc has started it: fleetc plan --observe says what a rollout does to it"]
    unknown = sum(isinstance(one.reason, Unknown) for one in node.changes)
    may = f", {unknown} may differ" if unknown else ""
    lines.append(f"  settings: {node.compared} compared, {len(node.changes) - unknown} differ{may}")
    for one in node.changes:
        lines.append(f"    -{one.flag}: {one.today} today, {one.compiled} then")
    lines += [f"  {words}" for words in node.other]
    if node.secrets and not node.goes_on:
        lines.append(f"  not compared: the values of {', '.join(node.secrets)}, which stay where they are")
    lines += [f"  not known: {words}" for words in node.unread]
    if not node.changes and not node.other and not node.unread:
        lines.append("  nothing that fleetc compares would change for the process")
    if node.goes_on:
        return lines + _lines_of_kept(node, host, kept)
    lines.append(f"  the first rollout restarts it once: {_why(node, facts)}")
    lines.append(f"  before that rollout, on {host}: {_stop(facts, node.node)}")
    if node.refused:
        lines.append("      until then its ports are taken, and the rollout changes nothing (ports-free)")
    else:
        lines.append("      nothing else keeps two processes from using its data directory at once")
    return lines


def _lines_of_kept(node: Taken, host: str, kept: bool) -> list[str]:
    """What the first rollout does with a process that may go on."""
    if not kept:
        before = f"  the first rollout restarts it, unless {host} knows before that it is to go on: "
        return [before + "run this command again with --keep-running"]
    names = f", unless {' or '.join(node.secrets)} turns out to be another one there" if node.secrets else ""
    return [
        f"  the first rollout keeps it running{names}, or it is started again before",
        "  until its next start it runs outside of the sandbox that its new unit has",
    ]


def _why(node: Taken, facts: Facts) -> str:
    """Why a process restarts."""
    own = f"livepeer-{node.node}"
    if facts.container:
        return f"Docker cannot take the container {facts.container} over; fleetc makes {own}"
    known = [one for one in node.changes if not isinstance(one.reason, Unknown)]
    if facts.unit == f"{own}.service" and node.unread and not known and not node.other:
        return "its unit has the name already that fleetc gives it, but nobody knows whether its settings stay"
    if facts.unit == f"{own}.service":
        return "its unit has the name already that fleetc gives it, but the process is not as the spec wants it"
    if facts.unit:
        return f"systemd moves no process from {facts.unit} to {own}.service, which fleetc writes"
    return f"it is in no unit of its own, and systemd takes no running process into {own}.service"


def _stop(facts: Facts, node: str) -> str:
    """The command that stops a process for good."""
    if facts.container:
        name = shlex.quote(facts.container)
        return f"docker update --restart=no {name} && docker stop {name}"
    unit = shlex.quote(facts.unit)
    if facts.unit == f"livepeer-{node}.service":
        return f"systemctl cat {unit} > {unit}.before && systemctl stop {unit}"
    if facts.unit:
        return f"systemctl disable --now {unit}"
    return f"kill {facts.pid}, and see that nothing starts it again"
