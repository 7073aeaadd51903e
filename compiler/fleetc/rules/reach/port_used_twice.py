"""Two programs on one host listen on the same port.

Why: the second one logs that the address is in use and exits, a node with status 0, so a supervisor that restarts only
failures leaves it dead. Listeners that nobody wrote count too: administration, RTMP, runner containers, exporters, and
the ports of an avatar stack. Slots use 8080, 9877, 8889 and 7777 plus their number, and orchestrator-health uses 9090,
as Prometheus does. `beside` names other services of a host with slots; services that often run there are a warning.
An SSH server on another port than 22 is a warning too: a router may forward ssh_port. If so, silence the warning.

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

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from fleetc.analysis.listeners import of_host
from fleetc.analysis.scraping import AGENT, PROMETHEUS_PORT, WRITE_PATH, prometheus_host, readings
from fleetc.blueprint.listeners import CHOSEN, MONITORING, WORK, Listening
from fleetc.language import effective, effective_avatar, effective_runners
from fleetc.language.effective_avatar import SlotInForce
from fleetc.language.effective_monitoring import project_of, prometheus_listener
from fleetc.language.fleet import Fleet, Node, Stack
from fleetc.language.quantities import HostName, host_port, reach_of
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning
from fleetc.places.origin import Origin, given
from fleetc.upstream.avatar import FIXED_PORTS, HIGHEST_SLOT, SLOT_PORTS

_SSH_PORT = 22  # where an SSH server listens by default; any other ssh_port may be forwarded
_HIGHEST_PORT = 65535
_BESIDE: Path = ("beside",)
_USUAL: Path = ("usual",)
_RECEIVER = "Prometheus that agents send to"
_SETTINGS = {
    "administration": 'cli = "{address}"',
    "RTMP": 'rtmp = "{address}"',
    "WHIP": 'environment.LIVE_AI_WHIP_ADDR = "{address}"',
    "WHEP": 'environment.LIVE_AI_WHEP_ADDR = "{address}"',
    "orchestrator-health": "health_port = {port}",
    "TURN": "turn.port = {port}",
    "Prometheus": 'prometheus = "{address}"',
    "Prometheus agent": 'prometheus = "{address}"',
    "Grafana": 'grafana = "{address}"',
    "Alertmanager": "alertmanager_port = {port}",
    "node_exporter": "node_exporter_port = {port}",
    "blackbox exporter": "blackbox_port = {port}",
    "exporter of GPU metrics": "gpu_exporter.port = {port}",
    effective_runners.API: "port = {port}",
}
"""What to write for another port, by the purpose of a listener; the others have `http`."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the listeners of each host. Two settings that clash on many hosts are one message."""
    reported = set()
    for host in sorted(fleet.hosts):
        certain, likely = _listeners(fleet, host)
        nodes = {node.path: node for node in fleet.nodes_by_host.get(host, ())}
        clashes = [pair for pair in _met(certain) if not _other_rule(fleet, nodes, *pair)]
        clashing = {one for one, _ in clashes}
        clashes += (pair for pair in _likely(certain, likely) if pair[0] not in clashing)
        free = _Free(fleet, host, [*certain, *likely]) if clashes else None
        for one, other in clashes:
            key = (one.origin.paths[0], _kind(one), _kind(other))
            if free is not None and key not in reported:
                reported.add(key)
                yield _clash(host, one, other, free)


def _listeners(fleet: Fleet, host: str) -> tuple[list[Listening], list[Listening]]:
    """The listeners of a host, those that are hardest to move first, and what may listen there besides."""
    found = [*of_host(fleet, host), *_receiver(fleet, host)]
    for stack in fleet.stacks_by_host.get(host, ()):
        found += _neighbours(fleet, stack)
    found.sort(key=lambda one: (_rank(one), one.owner, one.origin.kind == "given"))
    likely = [one for one in found if one.owner == _USUAL or (one.purpose == "SSH" and one.port != _SSH_PORT)]
    return [one for one in found if one not in likely], likely


def _rank(one: Listening) -> int:
    if one.owner == MONITORING:
        return 2 if one.origin.paths[0][0] == "hosts" else 7
    if " of slot " in one.purpose:
        return 6
    return {"hosts": 0, "beside": 1, "runners": 4, "avatars": 5}.get(str(one.owner[0]), 3)


def _receiver(fleet: Fleet, host: str) -> Iterator[Listening]:
    """The Prometheus of a host if agents send to it and the spec does not say which port."""
    settings, home = fleet.monitoring, prometheus_host(fleet)
    if settings is None or settings.receiver is not None or settings.project is not None:
        return
    if home is not None and home.value == host and any(reading.by == AGENT for reading in readings(fleet)):
        yield _unlisted(PROMETHEUS_PORT, MONITORING, _RECEIVER, home.origin)


def _neighbours(fleet: Fleet, stack: Stack) -> Iterator[Listening]:
    """Known services beside a stack: those that the spec puts there, and usual ones."""
    settings, here = stack.settings, effective_avatar.beside(fleet, stack)
    for row in FIXED_PORTS:
        if row.service in here:
            yield _unlisted(row.port, _BESIDE, row.purpose, here[row.service])
        elif (
            row.usual
            and row.service != "health"
            and (row.service != "node" or not fleet.nodes_by_host.get(settings.host))
        ):
            yield _unlisted(row.port, _USUAL, row.purpose, given(*stack.path))


def _unlisted(port: int, owner: Path, purpose: str, origin: Origin) -> Listening:
    return Listening(port, port, "tcp", effective.ANY_ADDRESS, owner, purpose, CHOSEN, WORK, origin)


def _met(listeners: list[Listening]) -> Iterator[tuple[Listening, Listening]]:
    """Each listener that overlaps an earlier one, with the first such. One pass for any number of clashes."""
    everywhere: dict[tuple[int, str], Listening] = {}
    anywhere: dict[tuple[int, str], Listening] = {}
    single: dict[tuple[int, str, str], Listening] = {}
    for one in listeners:
        key = (one.port, one.protocol)
        address = "127.0.0.1" if one.address == "localhost" else one.address
        if one.port != one.last:
            within = (other for other in listeners if other.protocol == one.protocol and other.port == other.last)
            before = next((other for other in within if one.port <= other.port <= one.last), None)
        elif reach_of(address) == "everywhere":
            before = anywhere.get(key)
            everywhere.setdefault(key, one)
        else:
            before = everywhere.get(key) or single.get((*key, address))
            single.setdefault((*key, address), one)
        anywhere.setdefault(key, one)
        if before is not None:
            yield one, before


def _likely(certain: list[Listening], likely: list[Listening]) -> Iterator[tuple[Listening, Listening]]:
    """Each listener where another program may listen; what is usual beside a stack concerns only the stack."""
    by_port: dict[int, list[Listening]] = {}
    for one in certain if likely else ():
        by_port.setdefault(one.port, []).append(one)
    for other in likely:
        for one in by_port.get(other.port, ()):
            if one.protocol == "tcp" and (other.owner != _USUAL or one.owner[0] == "avatars"):
                yield one, other


def _other_rule(fleet: Fleet, nodes: Mapping[Path, Node], one: Listening, other: Listening) -> bool:
    """Whether another rule reports why two meet: a slot number or a GPU used twice, or two stacks on one host."""
    if one.owner[0] == other.owner[0] == "avatars":
        return one.owner != other.owner or one.purpose == other.purpose
    if not (_is_container(one) and _is_container(other)):
        return one.owner == _BESIDE
    return all(effective.gpu_ids(fleet, nodes[owner]) for owner in (one.owner, other.owner) if owner in nodes)


def _is_container(one: Listening) -> bool:
    return one.purpose.endswith(" runner")


def _kind(one: Listening) -> str:
    return one.purpose.partition(" of slot ")[0]


# --- messages -------------------------------------------------------------------------------------


def _clash(host: str, one: Listening, other: Listening, free: _Free) -> Diagnostic:
    certain, where = True, f"port {other.port} of host {host}"
    labels, help_ = [Label(other.origin.paths[0], _note(other))], free.advice(one)
    if other.owner == _USUAL:
        certain, labels, message = False, [], f"{_who(one)} uses {where}, which usually belongs to {other.purpose}"
        help_ += "; if the port is free there, silence the warning"
    elif other.purpose == "SSH":
        certain, message = other.port == _SSH_PORT, f"{_who(one)} uses {where}, its ssh_port"
        note = "" if certain else "unless this port is forwarded to another port of the host"
        labels = [Label(("hosts", host, "ssh_port"), note)]
    elif one.owner == other.owner:
        message = f"{one.name} uses {where} twice, for {other.purpose} and {one.purpose}"
    else:
        message = f"{_who(one)} and {_who(other)} both use {where}"
    report = error if certain else warning
    return report("port-used-twice", message, Label(one.origin.paths[0], _note(one)), labels, help_)


def _who(one: Listening) -> str:
    return one.purpose if one.owner == _BESIDE else f"{one.name} ({one.purpose})"


def _note(one: Listening) -> str:
    return f"{one.name}: {one.purpose}" + (f" ({one.origin.reason})" if one.origin.reason else "")


class _Free:
    """What to write to use a free port of a host. Ports and slot numbers are each given out once."""

    def __init__(self, fleet: Fleet, host: str, listeners: Iterable[Listening]) -> None:
        self._fleet, self._host = fleet, host
        self._used = {port for one in listeners for port in (one.port, one.last)}
        self._next: dict[int, int] = {}
        self._numbers: dict[int, int | None] = {}
        self._next_slot = 0

    @cached_property
    def _slots(self) -> dict[str, SlotInForce]:
        stacks = self._fleet.stacks_by_host.get(self._host, ())
        slots = (slot for stack in stacks for slot in effective_avatar.slots_of(self._fleet, stack))
        return {f"{service} of slot {slot.number}": slot for slot in slots for service in slot.ports}

    def advice(self, one: Listening) -> str:
        """How to move a listener."""
        if one.port != one.last:
            start = one.last + 1 if one.last + 41 <= _HIGHEST_PORT else 40000
            setting = f'turn.relay_ports = "{start}-{start + 40}"'
            return f"move the other one, or write {setting} in avatars.{one.name}"
        if _is_container(one):
            return "GPU ids decide the ports of runner containers: give the nodes different gpus"
        if one.purpose in self._slots:
            return self._renumbered(self._slots[one.purpose], _kind(one))
        port = self._above(one.port)
        return "move one of them to a free port" if port is None else self._moved(one, port)

    def _moved(self, one: Listening, port: int) -> str:
        """The setting for another port."""
        project, table, address = project_of(self._fleet), ".".join(map(str, one.owner)), HostName(one.address)
        if one.purpose == _RECEIVER:
            url = f"http://{host_port(HostName(self._fleet.hosts[self._host].address), port)}{WRITE_PATH}"
            return f'move Prometheus to another port and write receiver = "{url}" in monitoring'
        if one.owner == MONITORING:
            table = "monitoring.project" if one.origin.paths[0][0] != "hosts" else f"hosts.{self._host}"
        if one.purpose == "Prometheus agent" and project is not None:
            address = prometheus_listener(project).value.host
        orchestrator = self._fleet.orchestrators.get(one.name)
        if one.purpose == "service" and orchestrator is not None and orchestrator.http is None:
            node = Node("orchestrators", one.name, orchestrator)
            service = effective.service_address(self._fleet, node)
            name = service.value.host if service else "orch.example.net"
            return f'write service = "{name}:{port}" in {table}'
        setting = _SETTINGS.get(one.purpose, 'http = "{address}"').format(port=port, address=host_port(address, port))
        before = "move the other one, or " if one.owner[0] == "avatars" else ""
        after = ", and have its program listen there" if one.purpose == effective_runners.API else ""
        return f"{before}write {setting} in {table}{after}"

    def _above(self, port: int) -> int | None:
        """A free port above another one; None when there is none. The time does not grow with the number of clashes."""
        free = self._next.get(port, port + 1)
        while free in self._used:
            free += 1
        self._next[port] = free + 1
        self._used.add(free)
        return free if free <= _HIGHEST_PORT else None

    def _renumbered(self, slot: SlotInForce, service: str) -> str:
        if slot.number not in self._numbers:
            self._numbers[slot.number] = self._next_number()
        number = self._numbers[slot.number]
        advice = "move the other one to a free port"
        if number is not None:
            listed = "" if isinstance(slot.path[-1], int) else "list the slots instead of counting them, and "
            advice = f"{listed}write slot = {number} for {slot.avatar}"
        return f"{advice}, or game_command = false for it" if service == "game" else advice

    def _next_number(self) -> int | None:
        """The next slot with only free ports; each is offered to only one slot."""
        while self._next_slot <= HIGHEST_SLOT:
            number, self._next_slot = self._next_slot, self._next_slot + 1
            if not any(base + number in self._used for base in SLOT_PORTS.values()):
                return number
        return None
