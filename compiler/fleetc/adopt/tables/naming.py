"""Names the nodes and hosts of an adopted fleet, as their sources call them, and chooses those that people name.

In: processes of the sources. Out: their names, and those of their hosts.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process
from fleetc.adopt.found.said import Said
from fleetc.adopt.node.settings import Running, running
from fleetc.adopt.read.sources import Found
from fleetc.adopt.read.tree import HostTable
from fleetc.adopt.tables.session import Session

LONE_HOST = "host-1"
_P = TypeVar("_P", bound=Process)
_PLAIN_STEMS = frozenset({
    "compose", "docker-compose", "livepeer", "start", "run", "launch", "main", "node", "standard input", "arguments",
})  # fmt: skip
"""Names of files that say nothing of a node."""


class UnknownNodeError(ValueError):
    """Somebody says the host of nodes that no source starts; its text is the sentence for them."""


def place_all(processes: Iterable[_P], known_hosts: Collection[str]) -> list[_P]:
    """Give processes the hosts that paths of their sources name: those that are known, and copies of whole roots."""
    listed = list(processes)
    roots = {_root(process) for process in listed} - {""}
    known = {*known_hosts, *roots} if len(roots) > 1 else {*known_hosts}
    return [process if process.host else replace(process, host=_named_host(process, known)) for process in listed]


def _root(process: Process) -> str:
    """The folder that has a copy of the root of a host, as in gpu-1/etc/systemd/system/livepeer.service."""
    folders = process.span.source.split("/")[:-1]
    place = folders.index("etc") if "etc" in folders else 0
    return folders[place - 1] if place > 0 and len(folders) > place + 1 else ""


def _named_host(process: Process, known: Collection[str]) -> str:
    """The nearest part of a source's path that is the name of a host; "" for none."""
    *folders, file = process.span.source.split("/")
    parts = (file, posixpath.splitext(file)[0], *reversed(folders))
    return next((part for part in parts if part in known), "")


def put_on_hosts(
    nodes: Sequence[Running], said: Mapping[str, str], session: Session, known_hosts: Mapping[str, HostTable],
    claimed: Collection[str],
) -> None:  # fmt: skip
    """Put nodes on the hosts that people name for them, by the name of the node, its unit or its container; "" stands
    for all that are on no host. Raises UnknownNodeError.
    """
    if not said:
        return
    name_all(nodes, Session(session.library, Ledger()), known_hosts, claimed)
    known = {name for node in nodes for name in (node.name, node.process.name) if name}
    if unknown := sorted(set(said) - known - {""}):
        raise UnknownNodeError(f"no source starts {' or '.join(unknown)}; nodes are {', '.join(sorted(known))}")
    for node in nodes:
        host = said.get(node.name) or said.get(node.process.name)
        host = host or ("" if node.process.host else said.get("", ""))
        if host:
            node.process = replace(node.process, host=host)


def name_all(
    nodes: Sequence[Running], session: Session, known_hosts: Mapping[str, HostTable], claimed: Collection[str]
) -> tuple[dict[str, str], str]:
    """Name nodes and hosts; those `claimed` run nothing but what was named for them. The names of hosts by what sources
    call them come back, and what a lone host is called. No node has the name of a host: they share directories.
    """
    free = len(known_hosts) == 1 and not set(claimed).intersection(known_hosts)
    lone = next(iter(known_hosts)) if free else LONE_HOST
    hosts: dict[str, str] = {}
    for node in nodes:
        host = node.process.host or lone
        if host not in hosts:
            hosts[host] = session.name_for(host, "host", set(hosts.values()))
        node.host = hosts[host]
    taken = {*hosts.values(), *(session.name_for(name, "host", set()) for name in known_hosts)}
    counted = Counter(node.process.span.source for node in nodes)
    hints = [_hint(node, counted[node.process.span.source] == 1, taken, session) for node in nodes]
    homes: dict[str, set[str]] = {}
    for node, hint in zip(nodes, hints, strict=True):
        homes.setdefault(hint, set()).add(node.host)
    for node, hint in zip(nodes, hints, strict=True):
        called = f"{hint}-{node.host}" if len(homes[hint]) > 1 else hint
        node.name = session.name_for(called, node.role, taken)
        taken.add(node.name)
    return hosts, lone


def _hint(node: Running, alone: bool, hosts: Collection[str], session: Session) -> str:
    """What the source calls a node, or the name of a source that is about it `alone`, else its role."""
    stem = posixpath.splitext(posixpath.basename(node.process.span.source))[0] if alone else ""
    names = (text.removeprefix("livepeer-").removeprefix("livepeer_") for text in (node.process.name, stem))
    plain = {*_PLAIN_STEMS, "", node.process.host}
    free = (text for text in names if text not in plain and session.name_for(text, node.role, set()) not in hosts)
    return next(free, node.role)


def chosen(sources: Found, said: Said, library: Library) -> tuple[list[Process], set[str]]:
    """The processes that --only names, by their own names or those of their nodes; and the names to choose from."""
    own = {process.name for process in sources.processes if process.name}
    if not said.only or own.issuperset(said.only):
        return [process for process in sources.processes if not said.only or process.name in said.only], own
    apart = Session(Library(library.sources, library.written), Ledger())  # what is read for names alone is not used
    placed = place_all(sources.processes, sources.hosts)
    nodes = [running(process, apart.library, apart.ledger, said.role) for process in placed]
    name_all([node for node in nodes if node is not None], apart, sources.hosts, sources.claimed)
    names = [node.name if node is not None else "" for node in nodes]
    wanted = [
        process
        for process, name in zip(sources.processes, names, strict=True)
        if process.name in said.only or name in set(said.only) - own
    ]
    return wanted, own | {*filter(None, names)}
