"""Two processes on one host listen on the same port.

Why: the second one logs that the address is in use and exits with status 0, so a supervisor that restarts only failures
leaves it dead. Implied listeners count too: administration, RTMP, runner containers. The SSH server's port is an error
if it is 22, else a warning: a router may forward ssh_port. If so, silence the warning.

Example:

    [gateways.gate]
    host = "edge"
    http = "0.0.0.0:8935"

    [orchestrators.orch]
    host = "edge"
    service = "edge.example.net:8935"

Instead:

    [gateways.gate]
    host = "edge"
    http = "0.0.0.0:9935"
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.analysis.listeners import of_node, of_runner
from fleetc.blueprint.listeners import Listening
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node, PlacedRunner
from fleetc.language.orchestrator import Orchestrator
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning

_ANY = ("0.0.0.0", "::")  # noqa: S104  # compared, not bound
_SSH_PORT = 22  # where an SSH server listens by default; any other ssh_port may be forwarded
_HIGHEST_PORT = 65535
_KEYS = {"administration": "cli", "HTTP": "http", "RTMP": "rtmp"}


class _Taken(NamedTuple):
    """A port and the node or runner that uses it."""

    bound: Listening
    node: Node | PlacedRunner

    @property
    def place(self) -> Path:
        return self.bound.origin.paths[0]

    @property
    def note(self) -> str:
        why = self.bound.origin.reason
        return f"{self.node.name}: {self.bound.purpose}" + (f" ({why})" if why else "")


class _FreePorts:
    """The free ports of a host, each given out once, in a time that does not grow with the number of clashes."""

    def __init__(self, used: set[int]) -> None:
        self._used = used
        self._next: dict[int, int] = {}

    def above(self, port: int) -> int | None:
        """A free port above another one; None when there is none."""
        free = self._next.get(port, port + 1)
        while free in self._used:
            free += 1
        self._next[port] = free + 1
        self._used.add(free)
        return free if free <= _HIGHEST_PORT else None


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the listeners of each host."""
    for host in sorted({*fleet.nodes_by_host, *fleet.runners_by_host}):
        port = fleet.hosts[host].ssh_port
        nodes, runners = fleet.nodes_by_host.get(host, ()), fleet.runners_by_host.get(host, ())
        ports = [port, *(placed.port for placed in runners)]
        ports += [bound.port for node in nodes for bound in of_node(fleet, node)]
        if len(set(ports)) == len(ports):
            continue
        taken = [_Taken(bound, node) for node in nodes for bound in of_node(fleet, node)]
        taken += [_Taken(of_runner(fleet, placed), placed) for placed in runners]
        free = _FreePorts(set(ports))
        for item in taken:
            if (item.bound.port, item.bound.protocol) == (port, "tcp"):
                yield _meets_ssh(fleet, host, item, free)
        yield from _clashes(fleet, host, taken, free)


def _meets_ssh(fleet: Fleet, host: str, item: _Taken, free: _FreePorts) -> Diagnostic:
    """A listener on the port where Ansible reaches the host; the SSH server listens there on all addresses."""
    forwarded = item.bound.port != _SSH_PORT
    report = warning if forwarded else error
    return report(
        "port-used-twice",
        f"{item.node.name} ({item.bound.purpose}) uses port {item.bound.port} of host {host}, its ssh_port",
        Label(item.place, item.note),
        [
            Label(
                ("hosts", host, "ssh_port"),
                "unless this port is forwarded to another port of the host" if forwarded else "",
            )
        ],
        _help(fleet, item, free),
    )


def _clashes(fleet: Fleet, host: str, taken: list[_Taken], free: _FreePorts) -> Iterator[Diagnostic]:
    """Each listener that overlaps an earlier one, with the first such. One pass for any number of clashes."""
    everywhere: dict[tuple[int, str], _Taken] = {}
    anywhere: dict[tuple[int, str], _Taken] = {}
    single: dict[tuple[int, str, str], _Taken] = {}
    for item in taken:
        key = (item.bound.port, item.bound.protocol)
        address = "127.0.0.1" if item.bound.address == "localhost" else item.bound.address
        if address in _ANY:
            before = anywhere.get(key)
            everywhere.setdefault(key, item)
        else:
            before = everywhere.get(key) or single.get((*key, address))
            single.setdefault((*key, address), item)
        anywhere.setdefault(key, item)
        if before is not None and not _same_gpu(fleet, before, item):
            yield _clash(fleet, host, before, item, free)


def _same_gpu(fleet: Fleet, one: _Taken, other: _Taken) -> bool:
    """Whether two nodes' runner containers collide because they share a GPU, which another rule reports."""
    return all(
        isinstance(item.node, Node)
        and item.bound.purpose.endswith(" runner")
        and bool(effective.gpu_ids(fleet, item.node))
        for item in (one, other)
    )


def _clash(fleet: Fleet, host: str, before: _Taken, item: _Taken, free: _FreePorts) -> Diagnostic:
    port = item.bound.port
    here, there = item.node.name, before.node.name
    if here == there:
        message = f"{here} uses port {port} of host {host} twice, for {before.bound.purpose} and {item.bound.purpose}"
    else:
        message = (
            f"{here} ({item.bound.purpose}) and {there} ({before.bound.purpose}) both use port {port} of host {host}"
        )
    return error(
        "port-used-twice",
        message,
        Label(item.place, item.note),
        [Label(before.place, before.note)],
        _help(fleet, item, free),
    )


def _help(fleet: Fleet, item: _Taken, ports: _FreePorts) -> str:
    """What to write to use a free port of the host."""
    bound, node = item.bound, item.node
    if bound.purpose.endswith(" runner"):
        return "GPU ids decide the ports of runner containers: give the nodes different gpus"
    free = ports.above(bound.port)
    if free is None:
        return "move one of them to a free port"
    if isinstance(node, PlacedRunner):
        return f"write port = {free} in runners.{node.name}, and have its program listen there"
    address = f"[{bound.address}]" if ":" in bound.address else bound.address
    if bound.purpose in ("WHIP", "WHEP"):
        return f'write {item.place[-1]} = "{address}:{free}"'
    if bound.purpose == "service" and isinstance(node.settings, Orchestrator) and node.settings.http is None:
        service = effective.service_address(fleet, node)
        where = service.value.host if service else "orch.example.net"
        return f'write service = "{where}:{free}" in orchestrators.{node.name}'
    return f'write {_KEYS.get(bound.purpose, "http")} = "{address}:{free}" in {node.table}.{node.name}'
