"""What the first rollout of a spec does to the nodes that a host runs already, without fleetc.

In: what a host says that runs there, and the blueprint of a spec. Out: for each process whose place a node of the spec
takes, every setting that would be another one, and whether the process restarts and why.

A process goes on if nothing about it would change and its unit has the name already that fleetc gives it: neither
systemd nor Docker moves a process from one name to another. Whether its secrets are those of the release only the host
can tell, so it compares them when the release comes, and restarts the node if they are others.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fleetc.adopt.compare import compare
from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process
from fleetc.adopt.found.questions import Difference
from fleetc.adopt.node.paths import default_data_dir, home_of, on_host
from fleetc.adopt.node.settings import Running, running
from fleetc.adopt.read.on_host import Facts, Observed, observed
from fleetc.blueprint.blueprint import Blueprint, HostBlueprint, Service
from fleetc.text import leaks
from fleetc.text.encoders import visible

_LISTENERS = frozenset({"cliAddr", "httpAddr", "rtmpAddr", "serviceAddr"})
_ROOT = ("", "root", "0", "0:0", "root:root")
_MOST_CHANGES = 6


@dataclass(frozen=True)
class Taken:
    """A node of the spec and the process whose place it takes.

    `match` says by what the process was known, `changes` are settings, `other` what else differs in words, `secrets`
    variables that only the host can compare.
    """

    node: str
    process: Process
    facts: Facts
    match: str
    compared: int
    changes: tuple[Difference, ...]
    other: tuple[str, ...]
    secrets: tuple[str, ...]
    keeps_ports: bool
    """Whether the preflight finds the ports of the node taken while the process runs."""

    @property
    def goes_on(self) -> bool:
        """Whether a rollout can keep the process."""
        facts = self.facts
        stranger = bool(facts.process) and not facts.managed and not facts.container
        same = stranger and not self.changes and not self.other
        return same and facts.unit == f"livepeer-{self.node}.service"


@dataclass(frozen=True)
class Takeover:
    """The plan for one host: nodes that take the place of processes, and the processes that are none of its nodes."""

    host: str
    nodes: tuple[Taken, ...]
    left: tuple[tuple[Process, Facts], ...]

    @property
    def going_on(self) -> dict[str, str]:
        """The processes that a rollout can keep, as the host calls them, by node."""
        return {node.node: node.facts.process for node in self.nodes if node.goes_on}


def take_over(host: str, answer: Mapping[str, Any], blueprint: Blueprint) -> Takeover:
    """The plan for a host of a blueprint. Raises SenselessAnswerError for an answer that makes no sense."""
    seen = observed(host, answer, Ledger())
    library = Library({source.name: source for source in seen.sources})
    there = [node for process in seen.processes if (node := running(process, library, Ledger())) is not None]
    place = next(one for one in blueprint.hosts if one.name == host)
    nodes = [
        _taken(service, node, match, place, blueprint, seen, library)
        for service, node, match in _pairs(place.services, there)
        if not seen.facts[node.process.span.source].managed
    ]
    paired = {node.process.span.source for node in nodes}
    left = [(process, seen.facts[process.span.source]) for process in seen.processes]
    return Takeover(
        host, tuple(nodes), tuple(pair for pair in left if pair[0].span.source not in paired and not pair[1].managed)
    )


def _pairs(services: Sequence[Service], there: Sequence[Running]) -> Iterator[tuple[Service, Running, str]]:
    """The process of each node: by data directory, then account, then unit; only where nothing else fits."""
    marks: tuple[tuple[str, Callable[[Service], str], Callable[[Running], str]], ...] = (
        ("the same data directory", lambda node: node.data_dir, _directory),
        ("the same account", _account, lambda process: process.text("ethAcctAddr").lower()),
        ("the name of its unit or container", lambda node: node.unit, lambda process: process.process.name),
    )
    nodes, processes = list(services), list(there)
    for match, of_node, of_process in marks:
        here = Counter((node.table, of_node(node)) for node in nodes)
        keys = Counter((process.table, of_process(process)) for process in processes)
        for process in list(processes):
            key = (process.table, of_process(process))
            node = next((one for one in nodes if (one.table, of_node(one)) == key), None)
            if key[1] and node is not None and here[key] == keys[key] == 1:
                nodes.remove(node)
                processes.remove(process)
                yield node, process, match


def _directory(node: Running) -> str:
    """The data directory of a process, by its path on the host; "" where nobody knows it."""
    if not node.text("dataDir") and not home_of(node.process) and node.process.unread:
        return ""  # its home, or the directory itself, may stand among the variables
    text = node.text("dataDir") or default_data_dir(home_of(node.process) or "~", node.network)
    return on_host(node.process, text) or ""


def _account(service: Service) -> str:
    return next((argument.value for argument in service.arguments if argument.flag == "ethAcctAddr"), "").lower()


def _taken(
    service: Service, node: Running, match: str, place: HostBlueprint, blueprint: Blueprint, seen: Observed,
    library: Library,
) -> Taken:  # fmt: skip
    comparison = compare([replace(node, name=service.name)], blueprint, library)
    moves = not _LISTENERS.isdisjoint(change.flag for change in comparison.differences)
    unread = tuple(f"{file.shown} was not read" for file in node.unread)
    return Taken(
        service.name, node.process, seen.facts[node.process.span.source], match, comparison.compared,
        comparison.differences, (*_other(service, node.process, place), *unread),
        tuple(sorted(secret.name for secret in service.secrets)),
        bool(place.ports_of(service)) and node.process.network == "host" and not moves,
    )  # fmt: skip


def _other(service: Service, process: Process, place: HostBlueprint) -> Iterator[str]:
    """What differs beside the settings of a node, for a process that runs."""
    if process.runtime != place.runtime:
        names = {"systemd": "a process of the host", "docker": "a container"}
        yield f"it is {names[process.runtime]}, and becomes {names[place.runtime]}"
    if process.network == "bridge":
        yield "it gets the network of its host"
    if place.runtime == "systemd" and process.user != place.node_user:
        yield f"its user becomes {place.node_user}, who must be able to read its files"
    elif place.runtime == "docker" and process.user not in _ROOT:
        yield "its user becomes that of its image"
    path = service.program.path if service.program else ""
    if process.runtime == place.runtime == "systemd" and path and process.program != path:
        yield f"its program is {process.program}, and becomes {path}"
    if process.image is not None and service.image and process.image.text != service.image:
        yield f"its image is {process.image.text}, and becomes {service.image}"
    kept = {variable.name for variable in service.variables} | {secret.name for secret in service.secrets}
    lost = sorted(name for name in process.variables if not name.startswith("LP_") and name not in kept)
    if lost:
        yield f"it loses the variables {', '.join(lost)}"


def as_text(plan: Takeover, keep: bool = False) -> str:
    """The plan for people, "" where the host runs nothing else; `keep`: the rollout keeps what can go on."""
    lines = [line for node in plan.nodes for line in _lines(node, plan.host, keep)]
    for process, facts in plan.left:
        lines.append(f"{plan.host}: process {facts.pid} ({process.name}) is no node of the spec: it stays as it is")
    return "".join(visible(leaks.shown(line)) + "\n" for line in lines)


def _lines(node: Taken, host: str, keep: bool) -> Iterator[str]:
    yield f"{host}: {node.node} takes the place of process {node.facts.pid} ({node.process.name}), by {node.match}"
    unknown = sum(change.unknown for change in node.changes)
    may = f", {unknown} may differ" if unknown else ""
    yield f"  settings: {node.compared} compared, {len(node.changes) - unknown} differ{may}"
    for change in node.changes[:_MOST_CHANGES]:
        yield f"    {change.setting}: {change.today} -> {change.compiled}"
    if len(node.changes) > _MOST_CHANGES:
        yield f"    and {len(node.changes) - _MOST_CHANGES} more"
    yield from (f"  {words}" for words in node.other)
    if node.goes_on and keep:
        unless = f", unless {' or '.join(node.secrets)} turns out to be another one there" if node.secrets else ""
        yield f"  the first rollout keeps it running{unless}; its old sandbox stays until it restarts"
    elif node.goes_on:
        yield "  the first rollout restarts it once; fleetc deploy --keep-running keeps it running"
    else:
        yield f"  the first rollout restarts it once: {_why(node)}"
        yield f"  before that rollout, on {host}: {_stop(node.facts, node.node)}"
        if node.keeps_ports:
            yield "    until then its ports are taken, and the rollout changes nothing (ports-free)"
        else:
            yield "    nothing else keeps two processes from using its data directory at once"


def _why(node: Taken) -> str:
    """Why a process restarts."""
    own, facts = f"livepeer-{node.node}", node.facts
    if facts.container:
        return f"Docker cannot rename the container {facts.container}; fleetc makes {own}"
    if facts.unit == f"{own}.service":
        return "its unit has the right name, but the process is not as the spec wants it"
    if facts.unit:
        return f"systemd moves no process from {facts.unit} to {own}.service"
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
