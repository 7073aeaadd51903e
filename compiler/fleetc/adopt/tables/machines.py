"""The hosts of an adopted fleet: where they are, how nodes run on them, and which live runners and GPUs they have.

In: nodes, processes that are none, and hosts that people or trees name. Out: tables of hosts in the session, and the
process that an address means.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleetc.adopt.found.process import Other, Process
from fleetc.adopt.found.questions import Ask
from fleetc.adopt.node.listeners import LOOPBACK, Address, is_loopback, split
from fleetc.adopt.node.paths import callers_place
from fleetc.adopt.node.runner_list import Entry, gpu_keys
from fleetc.adopt.node.settings import Running
from fleetc.adopt.tables.session import Session, Table, toml
from fleetc.language.quantities import QuantityError, is_public_address, parse_host
from fleetc.text import leaks

_HOME = re.compile("/(root)(?=/|$)|/home/([a-z_][a-z0-9_-]*)(?=/|$)")
_PROGRAM = "/usr/local/bin/livepeer"
"""Where a spec has the node's program, unless it says another place."""


def add_hosts(nodes: Sequence[Running], session: Session, known_hosts: Mapping[str, Mapping[str, Any]]) -> None:
    """A table for each host: as people or a tree name it, else from what its nodes say about it."""
    for node in nodes:
        if node.host not in session.hosts:
            known = known_hosts.get(node.process.host) or known_hosts.get(node.host)
            here = [other for other in nodes if other.host == node.host]
            session.hosts[node.host] = _host(node.host, here, known, session)


def ask_address(table: Table, public: str = "") -> None:
    """Ask where people log in to a host, if nothing says it; its public address is what the question offers."""
    if "address" not in table.values:
        table.put(Ask.ADDRESS, "address", toml(public or "..."))


def _host(name: str, here: Sequence[Running], known: Mapping[str, Any] | None, session: Session) -> Table:
    table = Table(dict(known or {}), path=("hosts", name))
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
            _program(table, [node for node in here if "/" in node.process.program])
    return table


def _public(node: Running) -> str:
    """The public name or address of a node's host, as its service address has it."""
    text = node.text("serviceAddr")
    if node.role != "orchestrator" or not text or node.word("serviceAddr").holes:
        return ""
    text = text.rpartition("://")[2]
    try:
        host = parse_host((split(text) or (text,))[0].strip("[]"))
    except QuantityError:
        return ""
    return str(host) if "." in str(host) and is_public_address(host) else ""


def _program(table: Table, here: Sequence[Running]) -> None:
    """The one program of all nodes of a host; a question where the sources have several, or do not say where it is."""
    known, unknown = list[str](), list[str]()
    for node in here:
        program = node.process.program
        place = None if "$" in program else callers_place(node.process, program)
        known, unknown = (known, [*unknown, program]) if place is None else ([*known, place], unknown)
    programs = list(dict.fromkeys([*known, *unknown]))
    if unknown or len(programs) > 1:
        table.put(Ask.BINARY, "binary", toml(known[0]) if known else "", programs=", ".join(programs))
    elif programs and programs != [_PROGRAM]:
        table.values["binary"] = programs[0]


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


def add_idle_hosts(nodes: Sequence[Running], session: Session, known_hosts: Mapping[str, Mapping[str, Any]]) -> None:
    """Hosts of a tree that run no node stay: a rollout knows them then."""
    used = {node.process.host for node in nodes} | {node.host for node in nodes} | {*session.hosts}
    for name, values in known_hosts.items():
        if name not in used:
            free = session.name_for(name, "host", set(session.hosts))
            session.hosts[free] = Table({"runtime": "systemd", **values}, path=("hosts", free))


# --------------------------------------------------------------------------------------------------------- live runners


STATE_DIR = "/var/lib/livepeer"
"""Where a host keeps the directories of its processes, unless a spec says another place."""
_DOCKER_HOST = ("host.docker.internal", "gateway.docker.internal")
_MOST_GPUS = 64


@dataclass
class Machines:
    """The hosts of a fleet, by what sources call them in `names`, and the processes that are no nodes. `gpus` are those
    of each host, by number, that lists of runners describe.
    """

    session: Session
    others: Sequence[Other]
    nodes: Sequence[Running]
    names: dict[str, str]
    inventory: Mapping[str, Mapping[str, Any]]
    lone: str
    placed: set[int] = field(default_factory=set)
    gpus: dict[str, dict[int, dict[str, str]]] = field(default_factory=dict)

    def behind(self, node: Running, url: Address | None, label: str) -> Other | None:
        """The one process that a node reaches at an address; fleetc calls its own by their labels."""
        if url is None:
            return None
        if node.process.ours:
            served = [other for other in self.others if other.ours and other.name == f"livepeer-{label}"]
        else:
            near = [other for other in self.others if same_project(node.process, other) and other.network != "host"]
            served = [other for other in near if url.host in other.peers]
            served = served or [
                other for other in self.others if self._is_on(other, node, url.host) and _listens(other, url.port)
            ]
        return served[0] if len(served) == 1 else None

    def _is_on(self, other: Other, node: Running, host: str) -> bool:
        """Whether a node means the host of a process by a name or an address."""
        raw = self._raw(other)
        if is_loopback(host) or host in _DOCKER_HOST:
            return raw == (node.process.host or self.lone)
        table = self.session.hosts.get(self.names.get(raw, ""))
        known = table.values if table is not None else self.inventory.get(raw, {})
        return host in (known.get("address"), known.get("public"))

    def takes(self, other: Other) -> bool:
        """Whether the host of a runner can start it: all processes of a host are containers, or none is."""
        raw = self._raw(other)
        kinds = {node.process.runtime for node in self.nodes if node.host == self.names.get(raw)}
        kinds |= {one.runtime for one in self.others if id(one) in self.placed and self._raw(one) == raw}
        return kinds <= {other.runtime}

    def _raw(self, other: Process) -> str:
        lone = next(iter(self.names)) if len(self.names) == 1 else self.lone
        return other.host or lone

    def host_of(self, other: Other) -> str:
        """The name of the host of a process, whose table is made if no node runs there."""
        raw = self._raw(other)
        if raw not in self.names:
            taken = {*self.session.hosts, *self.session.runners, *(node.name for node in self.nodes)}
            name = self.names[raw] = self.session.name_for(raw, "host", taken)
            self.session.hosts[name] = Table(dict(self.inventory.get(raw, {})), path=("hosts", name))
        table = self.session.hosts[self.names[raw]]
        self.placed.add(id(other))
        if "runtime" not in table.values:
            ask_address(table)
            table.values["runtime"] = other.runtime
            if other.runtime == "systemd" and other.user not in ("", "livepeer"):
                table.values.setdefault("node_user", other.user)
        return self.names[raw]

    def learn_state_dirs(self) -> None:
        """Write down where hosts keep the directories of their processes, as fleetc's units and containers say it."""
        for other in self.others:
            folder = posixpath.dirname(own_directory(other))
            if folder not in ("", STATE_DIR):
                self.session.hosts[self.host_of(other)].values["state_dir"] = folder

    def learn_public(self, node: Running, server: Other, url: Address) -> None:
        """The public name of a host, as an orchestrator elsewhere has it in the list that fleetc wrote."""
        host = self.host_of(server)
        values = self.session.hosts[host].values
        if host != node.host:
            values["public"] = url.host
            if url.host == values.get("address"):
                del values["public"]  # the name of a service there is none of the host

    def port_of(self, other: Other, url: Address) -> int:
        """The port on which a process itself listens that others reach at an address."""
        if other.network == "host" or url.host in other.peers:
            return url.port
        return next((one.inside for one in other.published if one.port == url.port), url.port)

    def moved(self, node: Running, other: Other, url: Address) -> str:
        """An address of a process as its callers have it, once containers have no network of their own."""
        host = self.host_of(other)
        values = self.session.hosts[host].values
        reached = LOOPBACK if host == node.host else str(values.get("public") or values.get("address") or host)
        return url._replace(port=self.port_of(other, url)).at(reached)

    def beside(self, process: Process) -> dict[str, Process]:
        """The processes that a container reaches by name."""
        near = [one for one in (*(node.process for node in self.nodes), *self.others) if same_project(one, process)]
        return {peer: one for one in near if "host" not in (one.network, process.network) for peer in one.peers}

    def learn_gpu(self, entry: Entry, server: Other, runner: Table) -> bool:
        """Note the GPU that a list tells clients of, if it is the only one that its runner gets."""
        told = gpu_keys(entry)
        text, memory = str(told.get("id", "")), told.get("vram_mb")
        number = int(text[:3]) if text.isascii() and text.isdigit() else _MOST_GPUS
        if number >= _MOST_GPUS or not told.get("name") or runner.values.get("gpus") not in ([number], "all"):
            return False
        runner.values["gpus"] = [number]
        gpu = {"model": told["name"]}
        if isinstance(memory, int):
            gpu["memory"] = f"{memory // 1024} GiB" if memory % 1024 == 0 else f"{memory} MiB"
        self.gpus.setdefault(self.host_of(server), {})[number] = gpu
        return True

    def list_gpus(self, tables: Iterable[Table]) -> None:
        """List each GPU of a host that anything uses, where lists of live runners describe some of them."""
        used = {host: [*known] for host, known in self.gpus.items()}
        for table in tables:
            values, numbers = table.values, used.get(str(table.values.get("host")), [])
            slots, gpus = values.get("slots"), values.get("gpus")
            listed = [values.get("gpu"), *(gpus if isinstance(gpus, list) else [])]
            listed += [slot.get("gpu") for slot in slots] if isinstance(slots, list) else []
            numbers += [number for number in listed if type(number) is int]
        for host, numbers in used.items():
            table, known = self.session.hosts[host], self.gpus[host]
            table.values["gpus"] = [known.get(number, {"model": "unknown"}) for number in range(max(numbers) + 1)]
            for number in {*range(max(numbers))} - {*known}:
                table.put(Ask.GPU, "gpus", number=number)


def own_directory(other: Other) -> str:
    """The directory that fleetc gives one of its own processes; "" for others."""
    name = other.name.removeprefix("livepeer-")
    paths = [mount.inside for mount in other.mounts if posixpath.basename(mount.inside) == name]
    paths = [other.directory] if other.runtime == "systemd" else paths
    usual = f"{STATE_DIR}/{name}"
    return "" if not other.ours else usual if usual in paths else next(iter(paths), "")


def same_project(one: Process, other: Process) -> bool:
    """Whether two processes are containers of one network: those of one source."""
    return "docker" in (one.runtime, other.runtime) and one.span.source == other.span.source


def _listens(other: Other, port: int) -> bool:
    """Whether a process says that its host has it at a port: published, as an argument, or as a variable."""
    if other.network != "host":
        return any(one.port == port for one in other.published)
    form = re.compile(rf"(?:^|.*[=:]){port}(?:/\S*)?")
    words: list[Any] = [
        *other.words,
        *(w for name, w in other.variables.items() if re.search("(PORT|ADDR|HOST|URL)$", name)),
    ]
    return any(form.fullmatch(word.text) for word in words)
