"""What the page of a host shows of the rest of the fleet, found once for all pages.

In: the blueprint. Out: `Around`: who uses whom, tasks, funds, sales and scraped addresses by host or node.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import NamedTuple

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.market import FundsRow, RunnerRow
from fleetc.blueprint.monitoring import ScrapeTarget
from fleetc.blueprint.tasks import Task, tasks_of
from fleetc.places.origin import Origin, given

_USES = {
    "finds": ("Asks", "Is asked by"),
    "serves": ("Hands work to", "Gets work from"),
    "signs": ("Has tickets signed by", "Signs tickets of"),
    "redeems": ("Has tickets redeemed by", "Redeems tickets of"),
    "offers": ("Offers", "Is offered by"),
}
"""How a node uses another one, in words, and how that one is used."""
_PAYS = ("Pays", "Is paid by")


class Common(NamedTuple):
    """A task of several hosts: it is on the page of the fleet, once."""

    who: str
    words: str
    subject: str
    command: str


class Around:
    """The rest of the fleet, seen from a host."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint

    @cached_property
    def place_of(self) -> dict[str, tuple[str, Origin]]:
        """The host of each node, and the origin of the node."""
        pairs = ((host, service) for host in self.blueprint.hosts for service in host.services)
        return {service.name: (host.name, given(service.table, service.name)) for host, service in pairs}

    @cached_property
    def uses(self) -> dict[str, dict[str, list[str]]]:
        """For each node the others, by how it uses them or is used."""
        found: dict[str, dict[str, list[str]]] = {}
        for edge in self.blueprint.edges:
            kind = "serves" if edge.kind == "outside" and edge.source not in self.place_of else edge.kind
            out, back = _USES.get(kind, _PAYS)
            found.setdefault(edge.source, {}).setdefault(out, []).append(edge.target)
            found.setdefault(edge.target, {}).setdefault(back, []).append(edge.source)
        return found

    @cached_property
    def tasks(self) -> dict[str, list[Task]]:
        """What people provide, by host; "" has the tasks of no host."""
        found: dict[str, list[Task]] = {}
        for task in tasks_of(self.blueprint):
            found.setdefault(task.host, []).append(task)
        return found

    @cached_property
    def common(self) -> dict[Common, list[Task]]:
        """The tasks that several hosts share."""
        found: dict[Common, list[Task]] = {}
        for task in chain.from_iterable(tasks for host, tasks in self.tasks.items() if host):
            found.setdefault(common_of(task), []).append(task)
        return {common: tasks for common, tasks in found.items() if len(tasks) > 1}

    @cached_property
    def funds(self) -> dict[str, FundsRow]:
        """The funds of each node that pays."""
        return {row.node: row for row in self.blueprint.market.funds}

    @cached_property
    def sales(self) -> dict[str, list[RunnerRow]]:
        """The live runners that each orchestrator sells."""
        found: dict[str, list[RunnerRow]] = {}
        for row in self.blueprint.market.runners:
            found.setdefault(row.orchestrator, []).append(row)
        return found

    @cached_property
    def scraped(self) -> dict[str, list[ScrapeTarget]]:
        """The addresses that metrics are read from, by the host that reads them."""
        watched = self.blueprint.monitoring
        if watched is None:
            return {}
        agents = {agent.host: [*agent.targets] for agent in watched.agents}
        return agents | {watched.home: [*agents.get(watched.home, ()), *watched.targets]}


def common_of(task: Task) -> Common:
    """A task without its host and nodes."""
    return Common(task.who, task.words, task.subject, task.command)
