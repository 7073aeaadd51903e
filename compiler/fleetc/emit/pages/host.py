"""The page of a host: its nodes, their ports and who reaches them, and what people provide there.

In: a host of the blueprint, and what is around it. Out: the view of a template, with the origins of each cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from fleetc.blueprint.blueprint import HostBlueprint, PriceLine, SecretVariable, Service
from fleetc.blueprint.listeners import Listening
from fleetc.blueprint.tasks import NAMED, Task
from fleetc.emit.artifacts import image_origin, release_origin
from fleetc.emit.pages.around import Around, common_of
from fleetc.emit.pages.avatars import stack_view
from fleetc.emit.pages.cells import cell, named, text, word
from fleetc.emit.pages.market import sale_row
from fleetc.emit.pages.watching import project_view
from fleetc.emit.templates import Encoded, View
from fleetc.emit.traced import Mark, together
from fleetc.places.origin import Origin, given
from fleetc.text.encoders import markdown_span, readable_word


def host_view(around: Around, host: HostBlueprint, mark: Mark) -> View:
    """All of the page."""
    table = ("hosts", host.name)
    user = f" -l {readable_word(host.ssh_user)}" if host.ssh_user else ""
    login = f"ssh -p {host.ssh_port}{user} {readable_word(host.address)}"
    owners = {(service.table, service.name) for service in host.services}
    own, shared = _tasks(around, host)
    return {
        "fleet": mark(cell(around.blueprint.fleet), given("fleet", "name")),
        "host": mark(cell(host.name), given(*table)),
        "address": mark(cell(host.address), given(*table, "address")),
        "public": mark(cell(host.public) if host.public else "", given(*table, "public")),
        "login": mark(cell(login), given(*table, "address"), given(*table, "ssh_port"), given(*table, "ssh_user")),
        "region": mark(cell(host.region) if host.region else "", given(*table, "region")),
        "runtime": mark(word(host.runtime), given(*table, "runtime")),
        "nodes": [_node(around, host, service, mark) for service in host.services],
        "ports": [*_ports(host, (one for one in host.listeners if one.owner not in owners), mark)],
        "tasks": [
            (text(who), [task_row(task, (), mark) for task in tasks]) for who, tasks in groupby(own, attrgetter("who"))
        ],
        "shared": [
            mark((text(task.words), cell(task.subject) if task.subject else ""), *task.origins) for task in shared
        ],
        **stack_view(host, mark),
        **project_view(around, host.name, mark),
    }


def _node(around: Around, host: HostBlueprint, service: Service, mark: Mark) -> View:
    own = (service.table, service.name)
    table = given(*own)
    if service.program is None:
        program = mark(cell(service.image), image_origin(service))
        log = f"docker logs {service.unit}"
    else:
        program = mark(cell(service.program.path), service.program.origin, given("hosts", host.name, "runtime"))
        log = f"journalctl --unit {service.unit}"
    wallets = [a for a in service.arguments if a.flag == "ethAcctAddr" and a.origin.paths]
    funds = around.funds.get(service.name)
    return {
        "name": mark(cell(service.name), table),
        "role": mark(word(service.role), table),
        "mode": mark(word(service.mode) if service.mode else "", given(*own, "mode")),
        "release": mark(word(service.node_release) if service.node_release else "", release_origin(service)),
        "program": program,
        "log": mark(cell(log), table, given("hosts", host.name, "runtime")),
        "wallets": [mark((cell(a.origin.paths[0][1]), cell(a.value)), a.origin) for a in wallets],
        "prices": [_price(service, price, mark) for price in service.prices],
        "load": mark((cell(funds.load), cell(funds.cost) if funds.cost else ""), given(*own, "expected_load"))
        if funds is not None and funds.load
        else "",
        "uses": [
            mark((text(way), _linked(around, names)), *_origins(around, (service.name, *names)))
            for way, names in around.uses.get(service.name, {}).items()
        ],
        "sales": [sale_row(row, mark) for row in around.sales.get(service.name, ())],
        "secrets": [_secret(secret, mark) for secret in sorted(service.secrets)],
        "ports": [*_ports(host, host.ports_of(service), mark)],
    }


def _linked(around: Around, names: Iterable[str]) -> Encoded:
    """Nodes with links to the pages of their hosts."""
    listed = [*dict.fromkeys(names)]
    if not all(name in around.place_of for name in listed):
        return named(listed)
    shown = [f"[{cell(name)}](../{around.place_of[name][0]}/README.md)" for name in listed[:NAMED]]
    return Encoded(", ".join(shown) + (" and others" if len(listed) > NAMED else ""))


def _origins(around: Around, names: Iterable[str]) -> tuple[Origin, ...]:
    return together(around.place_of[name][1] for name in names if name in around.place_of)


def _price(service: Service, price: PriceLine, mark: Mark) -> object:
    """The most that a gateway pays or what an orchestrator asks."""
    way = word("pays" if price.pays else "asks")
    return mark((way, cell(price.work), cell(price.price)), given(service.table, service.name), price.origin)


def _secret(secret: SecretVariable, mark: Mark) -> object:
    return mark((cell(secret.name), word(secret.kind), cell(secret.reference)), secret.origin)


def _ports(host: HostBlueprint, listeners: Iterable[Listening], mark: Mark) -> Iterator[object]:
    """Listeners by port. The reach is that of the list."""
    table = given("hosts", host.name)
    for one in listeners:
        cells = (
            *(word(f"{one.ports}/{one.protocol}"), cell(one.address), one.reach, cell(", ".join(one.peers))),
            *(cell(one.power), cell(one.guard) if one.guard else "", one.tls, cell(one.purpose)),
        )
        yield mark(cells, one.origin, table)


def _tasks(around: Around, host: HostBlueprint) -> tuple[list[Task], list[Task]]:
    """What people provide on a host alone, and what they provide on several."""
    tasks = around.tasks.get(host.name, [])
    shared = [task for task in tasks if common_of(task) in around.common]
    return [task for task in tasks if task not in shared], shared


def task_row(task: Task, hosts: Sequence[str], mark: Mark) -> object:
    """One thing to provide: for some nodes, or on some hosts."""
    subject = cell(task.subject) if task.subject else ""
    command = Encoded(markdown_span(task.command)) if task.command else ""  # in a list, where a | is a |
    nodes = named(task.nodes) if task.nodes and not hosts else ""
    return mark((text(task.words), subject, nodes, named(hosts) if hosts else "", command), *task.origins)
