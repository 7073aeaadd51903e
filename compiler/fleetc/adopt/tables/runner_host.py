"""Where live runners of an adopted fleet run: which process an address means, on which host, with which GPUs.

In: processes that are no nodes, and the hosts of the nodes. Out: the process behind an address, and tables of hosts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fleetc.adopt.found.process import Other, Process
from fleetc.adopt.node.listeners import is_loopback
from fleetc.adopt.node.reading import Running
from fleetc.adopt.node.runner_list import Entry, gpu_keys
from fleetc.adopt.node.web import Address, address
from fleetc.adopt.read.tree import HostTable
from fleetc.adopt.tables.machines import ask_address
from fleetc.adopt.tables.session import Session, Table

STATE_DIR = "/var/lib/livepeer"
"""Where a host keeps the directories of its processes, unless a spec says another place."""

_HOST_OF_A_CONTAINER = ("host.docker.internal", "gateway.docker.internal")
_GIB = 1024
_RUNTIMES = {"docker": "without containers", "systemd": "in containers"}
"""How a host runs nodes that does not run a process as this runtime does."""


@dataclass
class Machines:
    """The hosts of a fleet, by what sources call them in `names`, and the processes that are no nodes."""

    session: Session
    others: Sequence[Other]
    nodes: Sequence[Running]
    names: dict[str, str]
    inventory: Mapping[str, HostTable]
    lone: str
    placed: dict[int, str] = field(default_factory=dict)
    unfit: set[int] = field(default_factory=set)

    def server(self, orchestrator: Running, entry: Entry) -> Other | None:
        """The process that serves an entry of an orchestrator's list; None for none, or several."""
        url = address(entry.text("runner_url"))
        if url is None:
            return None
        if orchestrator.process.ours:
            found = [one for one in self.others if one.ours and one.name == f"livepeer-{entry.text('label')}"]
        else:
            near = [one for one in self.others if same_project(orchestrator.process, one)]
            found = [one for one in near if url.host in one.peers and one.network != "host"]
            if not found:
                found = [
                    one for one in self.others if self._is_on(one, orchestrator, url.host) and listens(one, url.port)
                ]
        return found[0] if len(found) == 1 else None

    def _is_on(self, other: Other, orchestrator: Running, host: str) -> bool:
        """Whether a host name, as an orchestrator uses it, means the host of a process."""
        if is_loopback(host) or host in _HOST_OF_A_CONTAINER:
            return self._raw(other) == (orchestrator.process.host or self.lone)
        known = self.session.hosts.get(self.names.get(self._raw(other), ""))
        values = known.values if known is not None else self.inventory.get(self._raw(other), HostTable()).values
        return host in (values.get("address"), values.get("public"))

    def fits(self, other: Other) -> bool:
        """Whether its host can run it as the source does: all processes of a host are containers, or none is."""
        kinds = {one.process.runtime for one in self.nodes if one.host == self.names.get(self._raw(other))}
        kinds |= {one.runtime for one in self.others if id(one) in self.placed and self._raw(one) == self._raw(other)}
        return kinds <= {other.runtime}

    def takes(self, other: Other) -> bool:
        """Whether its host can run a process that is a runner; people are told where it cannot."""
        if not self.fits(other):
            self.unfit.add(id(other))
            self.session.ledger.warn(
                "adopt-runtimes-differ", other.span,
                f"this is a live runner, and its host runs nodes {_RUNTIMES[other.runtime]}; fleetc runs all of a "
                "host alike, so it does not start the runner",
                "start it as today, or give it a host of its own, with NAME=FILE",
            )  # fmt: skip
        return id(other) not in self.unfit

    def _raw(self, other: Process) -> str:
        if not other.host and len(self.names) == 1:
            return next(iter(self.names))
        return other.host or self.lone

    def known_host(self, other: Other) -> str:
        """The table of its host; "" where no node runs there."""
        return self.names.get(self._raw(other), "")

    def host_of(self, other: Other) -> str:
        """The table of its host, which is made if no node has one there."""
        raw = self._raw(other)
        if raw not in self.names:
            known = self.inventory.get(raw)
            named = {*self.session.hosts, *self.session.runners, *(one.name for one in self.nodes)}
            name = self.session.name_for(raw, "host", named)
            self.names[raw] = name
            self.session.hosts[name] = Table(dict(known.values) if known else {}, origin=known.origin if known else "")
        table = self.session.hosts[self.names[raw]]
        if id(other) not in self.placed:
            self.placed[id(other)] = self.names[raw]
            if "runtime" not in table.values:
                ask_address(table)
                table.values["runtime"] = other.runtime
                if other.runtime == "systemd" and other.user not in ("", "livepeer"):
                    table.values.setdefault("node_user", other.user)
        return self.names[raw]

    def learn_state_dirs(self) -> None:
        """Write down where hosts keep the directories of their processes, as units and containers of fleetc say it."""
        for other in self.others:
            if other.ours and self._own_state_dir(other) != STATE_DIR:
                self.session.hosts[self.host_of(other)].values["state_dir"] = self._own_state_dir(other)

    def state_dir(self, other: Other) -> str:
        """Where its host keeps the directories of its processes."""
        return str(self.session.hosts[self.host_of(other)].values.get("state_dir", STATE_DIR))

    @staticmethod
    def _own_state_dir(other: Other) -> str:
        if other.runtime == "systemd":
            return posixpath.dirname(other.directory)
        name = other.name.removeprefix("livepeer-")
        found = [posixpath.dirname(m.inside) for m in other.mounts if posixpath.basename(m.inside) == name]
        return STATE_DIR if STATE_DIR in found or not found else found[0]

    def learn_public(self, orchestrator: Running, server: Other, url: Address) -> None:
        """The public name of a host, as an orchestrator elsewhere has it in the list that fleetc wrote."""
        host = self.host_of(server)
        reached = url.host
        values = self.session.hosts[host].values
        if host != orchestrator.host and reached == values.get("address"):
            values.pop("public", None)  # the name of a service there is none of the host
        elif host != orchestrator.host:
            values["public"] = reached

    def port_of(self, other: Other, url: Address) -> int:
        """The port on which a process itself listens that others reach at an address."""
        if other.network == "host" or url.host in other.peers:
            return url.port
        return next((one.inside for one in other.published if one.port == url.port), url.port)

    def reached(self, orchestrator: Running, other: Other) -> str:
        """Where an orchestrator reaches the host of a process."""
        host = self.host_of(other)
        values = self.session.hosts[host].values
        return "127.0.0.1" if host == orchestrator.host else str(values.get("public") or values.get("address") or host)

    def beside(self, other: Other) -> frozenset[str]:
        """The names under which a container reaches others of its project."""
        nodes = [one.process for one in self.nodes if one.process.network != "host"]
        near = [one for one in (*nodes, *self.others) if same_project(one, other)]
        return frozenset(peer for one in near for peer in one.peers)

    def learn_gpu(self, entry: Entry, server: Other, runner: Table) -> bool:
        """Write down the GPU of a host that a list tells clients of, if it is the only one that its runner gets."""
        told = gpu_keys(entry)
        number = str(told.get("id", ""))
        if not (number.isascii() and number.isdigit() and int(number[:3]) < 64 and told.get("name")):
            return False
        if runner.values.get("gpus") not in ([int(number)], "all"):
            return False
        runner.values["gpus"] = [int(number)]
        table = self.session.hosts[self.host_of(server)]
        known = table.values.setdefault("gpus", [])
        gpu = {"model": told["name"]}
        memory = told.get("vram_mb")
        if isinstance(memory, int):
            gpu["memory"] = f"{memory // _GIB} GiB" if memory % _GIB == 0 else f"{memory} MiB"
        _reach(table, int(number) - 1, gpu)
        known[int(number) : int(number) + 1] = [gpu]
        return True


def _reach(table: Table, number: int, gpu: Mapping[str, str]) -> None:
    """List GPUs of a host up to a number; those that no source describes are written like another one."""
    known = table.values["gpus"]
    while len(known) <= number:
        table.ask(f"TODO gpus: no source says what GPU {len(known)} is; it is written like another one of its host")
        known.append(dict(gpu))


def complete_gpus(hosts: Mapping[str, Table], tables: Iterable[Table]) -> None:
    """List each GPU that anything on a host uses, where lists of live runners describe some of them."""
    for table in tables:
        values = table.values
        host = hosts.get(str(values.get("host")))
        if host is None or "gpus" not in host.values:
            continue
        slots = values["slots"] if isinstance(values.get("slots"), list) else []
        listed = values["gpus"] if isinstance(values.get("gpus"), list) else []
        used = [values.get("gpu"), *listed, *(slot.get("gpu") for slot in slots if isinstance(slot, Mapping))]
        _reach(host, max((one + 1 for one in used if type(one) is int), default=0) - 1, host.values["gpus"][-1])


def same_project(one: Process, other: Process) -> bool:
    """Whether two processes are containers of one network: of the same source, or of files beside each other."""
    if "docker" not in (one.runtime, other.runtime):
        return False
    return one.span.source == other.span.source


def listens(other: Other, port: int) -> bool:
    """Whether a process says that its host has it at a port: published, as an argument, or as a variable."""
    if other.network != "host":
        return any(one.port == port for one in other.published)
    said = re.compile(rf"(?:^|[=:]){port}(?:/\S*)?")
    words = [word.text for word in other.words]
    words += [word.text for name, word in other.variables.items() if name.endswith(("PORT", "ADDR", "HOST", "URL"))]
    return any(said.search(text) and (said.fullmatch(text) or "=" in text or ":" in text) for text in words)
