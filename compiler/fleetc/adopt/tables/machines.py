"""The hosts of an adopted fleet: where they are, and how nodes run on them.

In: the nodes, and hosts that people or trees name. Out: tables of hosts in the session.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from fleetc.adopt.found.questions import Ask
from fleetc.adopt.node.listeners import split
from fleetc.adopt.node.paths import Place, callers_place
from fleetc.adopt.node.settings import Running
from fleetc.adopt.read.tree import HostTable
from fleetc.adopt.tables.session import Session, Table
from fleetc.adopt.tables.writing import toml
from fleetc.language.quantities import QuantityError, parse_host
from fleetc.text import leaks

_HOME = re.compile("/(root)(?=/|$)|/home/([a-z_][a-z0-9_-]*)(?=/|$)")
_PRIVATE = ("10.", "127.", "0.", "192.168.", "172.", "169.254.")
_PROGRAM = "/usr/local/bin/livepeer"
"""Where a spec has the node's program, unless it says another place."""


def add_hosts(nodes: Sequence[Running], session: Session, known_hosts: Mapping[str, HostTable]) -> None:
    """A table for each host: as people or a tree name it, else from what its nodes say about it."""
    for node in nodes:
        if node.host not in session.hosts:
            known = known_hosts.get(node.process.host) or known_hosts.get(node.host)
            here = [other for other in nodes if other.host == node.host]
            session.hosts[node.host] = _host(node.host, here, known, session)


def ask_address(table: Table, public: str = "") -> None:
    """Ask where people log in to a host, if nothing says it; its public address is what the question offers."""
    if "address" not in table.values:
        table.put(Ask.LOGIN if public else Ask.ADDRESS, "address", toml(public or "203.0.113.10"))


def _host(name: str, here: Sequence[Running], known: HostTable | None, session: Session) -> Table:
    table = Table(dict(known.values) if known else {}, path=("hosts", name))
    public = next((address for address in map(_public, here) if address), "")
    ask_address(table, public)
    if public:
        table.values.setdefault("public", public)
    runtimes = Counter(node.process.runtime for node in here)
    runtime = table.values["runtime"] = "docker" if runtimes["docker"] else "systemd"
    if len(runtimes) > 1:
        other = next(node for node in here if node.process.runtime != runtime)
        session.ledger.warn(
            "adopt-runtimes-differ", other.process.span,
            "this node runs without a container, others of its host in one; fleetc runs all alike",
            f"they become containers; or give it a host of its own, with NAME={leaks.shown(other.process.span.source)}",
        )  # fmt: skip
    if runtime == "systemd":
        users = [node.process.user for node in here if node.process.user]
        if users and "node_user" not in table.values and users[0] != "livepeer":
            table.values["node_user"] = users[0]
        if "binary" not in table.values and "build" not in table.values:
            _program(table, [node for node in here if "/" in node.process.program], session)
    return table


def _public(node: Running) -> str:
    """The public name or address of a node's host, as its service address has it."""
    text = node.text("serviceAddr")
    if node.role != "orchestrator" or not text or node.word("serviceAddr").holes:
        return ""
    text = text.partition("://")[2] if "://" in text else text
    parts = split(text)
    try:
        plain = str(parse_host((parts[0] if parts else text).strip("[]")))
    except QuantityError:
        return ""
    known = "." in plain and not plain.startswith(_PRIVATE)
    return plain if known and plain not in ("localhost", "*") else ""


def _program(table: Table, here: Sequence[Running], session: Session) -> None:
    """The one program of all nodes of a host; a question where the sources have several, or do not say where it is."""
    places = {node.process.program: _program_place(node) for node in here}
    paths = list(dict.fromkeys(place.path if place else program for program, place in places.items()))
    if len(paths) > 1:
        table.put(Ask.BINARIES, "binary", toml(paths[0]), programs=", ".join(paths))
    elif paths:
        place = places[here[0].process.program]
        if place is None:
            table.put(Ask.BINARY, "binary", text=paths[0])
        elif place.path != _PROGRAM:
            table.values["binary"] = place.path


def _program_place(node: Running) -> Place | None:
    """Where the program of a node is; None where nobody knows which folder its path begins in."""
    return None if "$" in node.process.program else callers_place(node.process, node.process.program)


def ask_users(nodes: Sequence[Running], tables: Mapping[str, Mapping[str, Table]], session: Session) -> None:
    """Ask who starts the nodes of a host that keep keys, or run in a home, if no source says whose."""
    for node in nodes:
        host = session.hosts[node.host]
        if node.process.user or "node_user" in host.values or host.values["runtime"] != "systemd":
            continue
        path = tables[node.table][node.name].values.get("data_dir", "")
        homes = (text for text in (path, node.process.program, node.process.directory) if _HOME.match(text))
        path = path if path and node.on_chain else next(homes, "")
        if path and not host.asks("node_user"):
            home = _HOME.match(path)
            host.put(Ask.USER, "node_user", toml(home[1] or home[2]) if home else "", node=node.name, path=path)


def add_idle_hosts(nodes: Sequence[Running], session: Session, known_hosts: Mapping[str, HostTable]) -> None:
    """Hosts of a tree that run no node stay: a rollout knows them then."""
    used = {node.process.host for node in nodes} | {node.host for node in nodes} | {*session.hosts}
    for name, table in known_hosts.items():
        if name not in used:
            free = session.name_for(name, "host", set(session.hosts))
            session.hosts[free] = Table({**table.values}, path=("hosts", free))
            session.hosts[free].values.setdefault("runtime", "systemd")
