"""Hosts, nodes, ports and secrets as rows of `FLEET.md`, and the origins of each.

In: parts of the blueprint. Out: rows for the template, and marks of the same shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from fleetc.blueprint.blueprint import HostBlueprint, Service
from fleetc.emit.artifacts import image_origin, release_origin
from fleetc.emit.fleet_page.cells import cell, word
from fleetc.emit.templates import Encoded, Word
from fleetc.emit.tracing import Marks, Together
from fleetc.language.quantities import reach_of
from fleetc.places.origin import Origin, given
from fleetc.upstream import format_release


class HostRow(NamedTuple):
    """One row of the table of hosts; an empty text is a value that the spec does not give."""

    name: Encoded
    address: Encoded
    public: str
    region: str
    runtime: Word
    nodes: int


class NodeRow(NamedTuple):
    """One row of the table of nodes; `program` is the image, or the path of the program on a systemd host."""

    name: Encoded
    host: Encoded
    role: Word
    mode: str
    release: Word
    program: Encoded


class PortRow(NamedTuple):
    """One listener; `reach` is rollout, loopback, everywhere or address; the host's own ones have no node.

    Ports of avatar slots reach callers (their allowlist), everyone or nobody, and may be a range.
    """

    host: Encoded
    port: int | Word
    protocol: Word
    address: str
    reach: str
    purpose: Encoded
    node: str


class SecretRow(NamedTuple):
    """One secret variable of one node."""

    kind: Word
    reference: Encoded
    variable: Encoded
    node: Encoded
    host: Encoded


def host_row(host: HostBlueprint) -> HostRow:
    public, region = (cell(text) if text else "" for text in (host.public, host.region))
    return HostRow(cell(host.name), cell(host.address), public, region, word(host.runtime), len(host.services))


def node_row(host: HostBlueprint, service: Service) -> NodeRow:
    return NodeRow(
        name=cell(service.name),
        host=cell(host.name),
        role=word(service.role),
        mode=word(service.mode) if service.mode else "",
        release=word(format_release(service.release)),
        program=cell(service.image if host.runtime == "docker" else host.binary),
    )


def port_rows(host: HostBlueprint) -> Iterator[tuple[PortRow, Origin]]:
    """Every listener of a host, in the order of ports; the SSH server that a rollout needs comes first."""
    name = cell(host.name)
    ssh = PortRow(name, host.ssh_port, word("tcp"), cell(host.address), "rollout", cell("SSH"), "")
    yield ssh, given("hosts", host.name, "ssh_port")
    listeners = [
        (port.port, port.protocol, port.address, service.name, port.purpose, port.origin)
        for service in host.services
        for port in service.ports
    ]
    for number, protocol, address, node, purpose, origin in sorted(listeners, key=itemgetter(0, 1, 2, 3, 4)):
        where = cell(address) if address else ""
        yield PortRow(name, number, word(protocol), where, reach_of(address), cell(purpose), cell(node)), origin
    if host.avatar is not None:
        for row in sorted(host.avatar.firewall, key=lambda row: (row.first, row.protocol)):
            ports = Word(str(row.first) if row.first == row.last else f"{row.first}-{row.last}")
            stack = cell(host.avatar.name)
            yield PortRow(name, ports, word(row.protocol), "", row.reach, cell(row.purpose), stack), row.origin


def host_marks(host: HostBlueprint) -> list[Marks]:
    table = ("hosts", host.name)
    fields = [given(*table, field) for field in ("address", "public", "region", "runtime")]
    return [given(*table), *fields, Together(given(service.table, service.name) for service in host.services)]


def node_marks(host: HostBlueprint, service: Service) -> list[Marks]:
    own = (service.table, service.name)
    binary = Together([given("hosts", host.name, "binary"), given("hosts", host.name, "runtime")])
    program = image_origin(service) if host.runtime == "docker" else binary
    return [given(*own), given(*own, "host"), given(*own), given(*own, "mode"), release_origin(service), program]
