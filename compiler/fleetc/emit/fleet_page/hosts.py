"""Hosts, nodes, ports, prices and secrets as rows of `FLEET.md`.

In: parts of the blueprint. Out: rows for the template, with the origins of each cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint, Service
from fleetc.blueprint.tasks import NAMED, tasks_of
from fleetc.emit.artifacts import image_origin, release_origin
from fleetc.emit.fleet_page.cells import cell, text, word
from fleetc.emit.templates import Encoded, Word
from fleetc.emit.traced import Mark
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


def port_rows(host: HostBlueprint, mark: Mark) -> Iterator[object]:
    """Every listener of a host, by port. The reach is that of the list; an empty node is the host itself."""
    table = given("hosts", host.name)
    for one in host.listeners:
        node = "" if one.owner == ("hosts", host.name) else cell(one.name)
        cells = (
            *(cell(host.name), Word(one.ports), word(one.protocol), cell(one.address), one.reach),
            *(cell(", ".join(one.peers)), cell(one.power), cell(one.guard) if one.guard else "", one.tls),
            *(cell(one.purpose), node),
        )
        yield mark(cells, one.origin, table)


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
