"""Gives ports of their own to listeners of containers that have never shared a network with each other.

In: the nodes and their tables, once these say where each listens. Out: listeners in those tables that no two nodes of a
host share. Only a listener moves that nothing outside its container reaches today: others stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.words import Brief
from fleetc.adopt.node.listeners import RTMP, SERVICE_PORT, split
from fleetc.adopt.node.reading import Running
from fleetc.adopt.tables.session import Table
from fleetc.language.effective import CLI_LISTENERS, GATEWAY_HTTP, HELPER_HTTP

FLAGS = {"cli": "cliAddr", "http": "httpAddr", "rtmp": "rtmpAddr"}
"""The keys of listeners in tables of nodes, with their flags."""
_HIGHEST = 65535


class Listens(NamedTuple):
    """A listener of a node: the key of its table, and where it is."""

    node: Running
    table: Table
    key: str
    host: str
    port: int

    @property
    def moves(self) -> bool:
        """Whether nothing outside its container reaches it."""
        return FLAGS[self.key] in self.node.unreached


def free_ports(
    found: Iterable[Running], tables: Mapping[str, Mapping[str, Table]], runners: Iterable[Table], ledger: Ledger
) -> None:
    """Move listeners, host by host, until no two have the same port."""
    hosts: dict[str, list[Listens]] = {}
    for one in found:
        hosts.setdefault(one.host, []).extend(listeners_of(one, tables[one.table][one.name]))
    others: dict[str, set[int]] = {}
    for runner in runners:
        port = runner.values.get("port")
        if type(port) is int:
            others.setdefault(str(runner.values.get("host", "")), set()).add(port)
    for host, listens in hosts.items():
        _separate(listens, others.get(host, set()), ledger)


def listeners_of(one: Running, table: Table) -> Iterator[Listens]:
    """Where a node listens, as its table says or leaves to the default of its role."""
    usual = {"cli": str(CLI_LISTENERS[one.table])}
    if one.table == "gateways":
        usual |= {"http": str(GATEWAY_HTTP), "rtmp": f"127.0.0.1:{RTMP}"}
    elif one.table == "orchestrators":
        service = split(str(table.values.get("service", "")).rpartition("/")[2])
        usual["http"] = f"*:{service[1] if service else SERVICE_PORT}"
    elif one.table in ("remote_signers", "redeemers"):
        usual["http"] = str(HELPER_HTTP)
    for key, text in usual.items():
        listener = split(str(table.values.get(key, text)))
        if listener is not None:
            yield Listens(one, table, key, *listener)


def _separate(listens: list[Listens], taken: set[int], ledger: Ledger) -> None:
    """Leave listeners that are reached today where they are, and give the rest ports that nobody else has."""
    owners: dict[int, str] = dict.fromkeys(taken, "a runner")
    for one in listens:
        if not one.moves:
            owners.setdefault(one.port, one.node.name)
    wanted = {one.port for one in listens}
    for one in listens:
        if not one.moves:
            continue
        owner = owners.get(one.port)
        port = one.port
        while port in owners or (port != one.port and port in wanted):
            port += 1
        owners[port] = one.node.name
        if owner is not None and port <= _HIGHEST:
            _move(one, port, owner, ledger)


def _move(one: Listens, port: int, owner: str, ledger: Ledger) -> None:
    """Write down another port, and why."""
    has = f"{owner} has port {one.port}"
    why = Brief(f"today each container has a network of its own; on the host, {has}", has)
    one.table.values[one.key] = f"{one.host}:{port}"
    one.table.notes[one.key] = has
    one.node.reasons[FLAGS[one.key]] = why
    ledger.note(
        one.node.process.span, f"port {one.port}", Fate.UNDERSTOOD, f"{one.key} of {one.node.name} is {port}: {why}"
    )
