"""Hosts, nodes, ports, prices and secrets as rows of `FLEET.md`.

In: parts of the blueprint. Out: rows for the template, with the origins of each cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint, Service
from fleetc.blueprint.tasks import NAMED, tasks_of
from fleetc.emit.artifacts import image_origin, release_origin
from fleetc.emit.fleet_page.cells import cell, text, word
from fleetc.emit.templates import Encoded, Word
from fleetc.emit.traced import Mark
from fleetc.language.effective import BoundPort
from fleetc.language.quantities import reach_of
from fleetc.places.origin import given
from fleetc.text.encoders import markdown_span


def host_row(host: HostBlueprint, mark: Mark) -> object:
    """One host; an empty text is a value that the spec does not give."""
    table = ("hosts", host.name)
    return (
        mark(cell(host.name), given(*table)),
        mark(cell(host.address), given(*table, "address")),
        mark(cell(host.public) if host.public else "", given(*table, "public")),
        mark(cell(host.region) if host.region else "", given(*table, "region")),
        mark(word(host.runtime), given(*table, "runtime")),
        mark(len(host.services), *(given(service.table, service.name) for service in host.services)),
    )


def node_row(host: HostBlueprint, service: Service, mark: Mark) -> object:
    """One node; its last cell is its image, or the path of its program on a systemd host."""
    own = (service.table, service.name)
    table = given(*own)
    if service.program is None:
        program = mark(cell(service.image), image_origin(service))
    else:
        program = mark(cell(service.program.path), service.program.origin, given("hosts", host.name, "runtime"))
    return (
        mark(cell(service.name), table),
        mark(cell(host.name), given(*own, "host")),
        mark(word(service.role), table),
        mark(word(service.mode) if service.mode else "", given(*own, "mode")),
        mark(word(service.node_release) if service.node_release else "", release_origin(service)),
        program,
    )


def port_rows(host: HostBlueprint, watching: Sequence[BoundPort], mark: Mark) -> Iterator[object]:
    """Every listener of a host, by port; the SSH server that a rollout needs comes first. `watching` are its programs
    that watch the fleet.

    Its reach is rollout, loopback, everywhere or address; for ports of avatar slots callers (their allowlist), everyone
    or nobody. The host's own listeners have no node.
    """
    table, name = given("hosts", host.name), cell(host.name)
    ssh = (host.ssh_port, word("tcp"), cell(host.address), "rollout", cell("SSH"), "")
    yield mark((name, *ssh), given("hosts", host.name, "ssh_port"), table)
    listeners = [
        (port.port, port.protocol, port.address, service.name, port.purpose, port.origin)
        for service in host.services
        for port in service.ports
    ]
    listeners += [(p.port, p.protocol, p.address, "monitoring", p.purpose, p.origin) for p in watching]
    for number, protocol, address, node, purpose, origin in sorted(listeners, key=itemgetter(0, 1, 2, 3, 4)):
        where = cell(address) if address else ""
        values = (number, word(protocol), where, reach_of(address), cell(purpose), cell(node))
        yield mark((name, *values), origin, table)
    if host.avatar is not None:
        for rule in sorted(host.avatar.firewall, key=lambda rule: (rule.first, rule.protocol)):
            ports = Word(str(rule.first) if rule.first == rule.last else f"{rule.first}-{rule.last}")
            ranged = (ports, word(rule.protocol), "", rule.reach, cell(rule.purpose), cell(host.avatar.name))
            yield mark((name, *ranged), rule.origin, table)


def price_rows(service: Service, mark: Mark) -> Iterator[object]:
    """The most that a gateway pays and what an orchestrator asks."""
    for price in service.prices:
        way = word("pays" if price.pays else "asks")
        cells = (cell(service.name), way, cell(price.work), cell(price.price))
        yield mark(cells, given(service.table, service.name), price.origin)


def task_lists(blueprint: Blueprint, mark: Mark) -> Iterator[object]:
    """What each person provides before the first rollout: who it is, and the tasks."""
    for who, tasks in groupby(tasks_of(blueprint), attrgetter("who")):
        rows = []
        for task in tasks:
            nodes, more = [cell(node) for node in task.nodes[:NAMED]], len(task.nodes[NAMED:])
            host, subject = (cell(part) if part else "" for part in (task.host, task.subject))
            command = Encoded(markdown_span(task.command)) if task.command else ""  # in a list, where a | is a |
            rows.append(mark((host, text(task.words), subject, command, nodes, more), *task.origins))
        yield text(who), rows


def secret_rows(host: HostBlueprint, mark: Mark) -> Iterator[object]:
    """Each secret variable of a node or of the avatar stack of a host."""
    for owner, secrets in host.secrets():
        for secret in sorted(secrets):
            values = (word(secret.kind), cell(secret.reference), cell(secret.name), cell(owner), cell(host.name))
            yield mark(values, secret.origin, given("hosts", host.name))
