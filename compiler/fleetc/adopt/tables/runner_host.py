"""Where live runners of an adopted fleet run: which process an address means, on which host, with which GPUs.

In: processes that are no nodes, and the hosts of the nodes. Out: the process behind an address, and tables of hosts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleetc.adopt.found.process import Other, Process
from fleetc.adopt.found.questions import Ask
from fleetc.adopt.node.listeners import LOOPBACK, Address, is_loopback
from fleetc.adopt.node.runner_list import Entry, gpu_keys
from fleetc.adopt.node.settings import Running
from fleetc.adopt.read.tree import HostTable
from fleetc.adopt.tables.machines import ask_address
from fleetc.adopt.tables.session import Session, Table

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
    inventory: Mapping[str, HostTable]
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
        known = self.session.hosts.get(self.names.get(raw, "")) or self.inventory.get(raw) or HostTable()
        return host in (known.values.get("address"), known.values.get("public"))

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
            known = self.inventory.get(raw, HostTable())
            taken = {*self.session.hosts, *self.session.runners, *(node.name for node in self.nodes)}
            name = self.names[raw] = self.session.name_for(raw, "host", taken)
            self.session.hosts[name] = Table(dict(known.values), path=("hosts", name))
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
