"""Something else on the host uses a port of the avatar stack.

Why: the second program to start cannot listen and exits, or answers callers of the first. fleetc checks the ports of
slots, orchestrator-health and TURN with its relays. It compares them with the host's nodes, SSH server, exporters
(`gpu_exporter`, `blackbox_port`) and known services. Services in `beside`, and payments or an edge with the host's own
address, are certain, so a clash is an error. Services that such hosts often run are a warning, unless the spec
describes the nodes there: then their own ports count. Recorder slot 46 is 8935, and game slot 158 is 7935.

Example:

    [orchestrators.orch]
    host = "gpu"
    service = "orch.example.net:8935"

    [avatars.stage]
    host = "gpu"
    slots = [{ avatar = "mira", slot = 46 }]

Instead:

    [avatars.stage]
    host = "gpu"
    slots = [{ avatar = "mira", slot = 45 }]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.analysis.listeners import of_host, of_stack
from fleetc.analysis.slots import claims
from fleetc.blueprint.listeners import MONITORING, Listening
from fleetc.language import effective_avatar
from fleetc.language.effective_avatar import SlotInForce
from fleetc.language.fleet import Fleet, Stack
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.upstream.avatar import FIXED_PORTS, HIGHEST_SLOT, SLOT_PORTS, FixedPort

_SSH_PORT = 22  # where an SSH server listens by default; any other ssh_port may be forwarded
_OF_THE_STACK = ("health", "turn")


class _Owner(NamedTuple):
    """Another user of a port: `what` for the message, `certain` when it is known to be there."""

    port: int
    protocol: str
    what: str
    label: Label | None
    certain: bool = True


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare each stack with everything on its host."""
    around = {host: tuple(_others(fleet, host)) for host in fleet.stacks_by_host}
    for stack in fleet.stacks:
        owners = [*around[stack.settings.host], *_neighbours(fleet, stack)]
        shared = (one for one in of_stack(fleet, stack) if " of slot " not in one.purpose)
        own = [one for one in shared if one.port == one.last]
        taken = _Slots(fleet, stack, owners, own)
        yield from taken.clashes([*owners, *map(_as_owner, own)])
        for index, bound in enumerate(own):
            for owner in (*owners, *map(_as_owner, own[:index])):
                if (owner.port, owner.protocol) == (bound.port, bound.protocol):
                    yield _own_port(stack, bound, owner)
        yield from _relay(stack, [*owners, *map(_as_owner, own)])


def _others(fleet: Fleet, host: str) -> Iterator[_Owner]:
    """All on a host but its stacks; what the monitoring project has there is another rule's."""
    for one in of_host(fleet, host):
        place, why = one.origin.paths[0], f" ({one.origin.reason})" if one.origin.reason else ""
        if one.owner == ("hosts", host):
            forwarded = one.port != _SSH_PORT
            note = "unless this port is forwarded to another port of the host" if forwarded else "its SSH server"
            yield _Owner(one.port, "tcp", "the SSH server", Label(place, note, on_key=not forwarded), not forwarded)
        elif one.owner == MONITORING:
            if one.purpose in ("exporter of GPU metrics", "blackbox exporter"):
                what = f"the {one.purpose}"
                yield _Owner(one.port, one.protocol, what, Label(place, one.origin.reason or what))
        elif one.owner[0] != "avatars":
            label = Label(place, f"{one.name}: {one.purpose}{why}")
            yield _Owner(one.port, one.protocol, f"{one.name} ({one.purpose})", label)


def _neighbours(fleet: Fleet, stack: Stack) -> Iterator[_Owner]:
    """Known services beside the stack: from the spec, and common ones."""
    settings, host = stack.settings, fleet.hosts[stack.settings.host]
    addresses = {host.address, host.public, settings.public}
    described = stack.settings.host in fleet.nodes_by_host
    here: dict[str, Label] = {}
    for index, service in enumerate(settings.beside):
        here.setdefault(service, Label((*stack.path, "beside", index), "the spec says it runs here"))
    for key, service, known in (
        ("payments", "payments", settings.payments.addresses if settings.payments else ()),
        ("edge", "matchmaker", settings.edge.addresses if settings.edge else ()),
    ):
        for index, address in enumerate(known):
            if str(address) in addresses:
                here.setdefault(service, Label((*stack.path, key, "addresses", index), "an address of this host"))
    for row in FIXED_PORTS:
        if row.service in _OF_THE_STACK:
            continue
        if row.service in here:
            yield _fixed(row, here[row.service])
        elif row.usual and not (row.service == "node" and described):
            yield _fixed(row, None)


def _fixed(row: FixedPort, label: Label | None) -> _Owner:
    return _Owner(row.port, "tcp", row.purpose, label, certain=label is not None)


def _as_owner(bound: Listening) -> _Owner:
    return _Owner(bound.port, bound.protocol, bound.purpose, Label(bound.origin.paths[0], bound.purpose))


class _Slots:
    """The slots of a stack, who uses their ports, and which numbers are free."""

    def __init__(self, fleet: Fleet, stack: Stack, owners: list[_Owner], own: list[Listening]) -> None:
        slots = effective_avatar.slots_of(fleet, stack)
        publish = {s: [slot.number for slot in slots if s != "game" or slot.game_command] for s in SLOT_PORTS}
        self._stack = stack
        self._by_number: dict[int, SlotInForce] = {slot.number: slot for slot in slots}
        self._claims = claims(SLOT_PORTS, publish)
        others = [*owners, *map(_as_owner, own)]
        self._used = {owner.port for owner in others if owner.protocol == "tcp"} | set(self._claims)
        self._offered: dict[int, int | None] = {}
        self._next = 0

    def clashes(self, owners: list[_Owner]) -> Iterator[Diagnostic]:
        """Each port of a slot that an owner uses; a certain owner goes before a likely one."""
        certain = {owner.port for owner in owners if owner.certain and owner.protocol == "tcp"}
        for owner in owners:
            if owner.protocol != "tcp" or (not owner.certain and owner.port in certain):
                continue
            for service, number in self._claims.get(owner.port, ()):
                yield self._clash(owner, service, self._by_number[number])

    def _clash(self, owner: _Owner, service: str, slot: SlotInForce) -> Diagnostic:
        stack = self._stack
        report = error if owner.certain else warning
        where = f"port {owner.port} of host {stack.settings.host}"
        who = f"{service} of slot {slot.number} of {stack.name}"
        message = f"{who} and {owner.what} both use {where}"
        if owner.label is None:
            message = f"{who} uses {where}, which usually belongs to {owner.what}"
        return report(
            "avatar-port-taken",
            message,
            Label(slot.path, f"{service}: {SLOT_PORTS[service]} + {slot.number}"),
            [owner.label] if owner.label is not None else [],
            self._help(service, slot, owner),
        )

    def _help(self, service: str, slot: SlotInForce, owner: _Owner) -> str:
        if slot.number not in self._offered:
            self._offered[slot.number] = self._free()
        number = self._offered[slot.number]
        listed = isinstance(slot.path[-1], int)
        advice = "move the other one to a free port"
        if number is not None:
            table = "" if listed else "list the slots instead of counting them, and "
            advice = f"{table}write slot = {number} for {slot.avatar}"
        if service == "game":
            advice += ", or game_command = false for it"
        return advice if owner.certain else f"{advice}; if the port is free there, silence the warning"

    def _free(self) -> int | None:
        """The next slot with only free ports; each is offered to only one slot."""
        while self._next <= HIGHEST_SLOT:
            number, self._next = self._next, self._next + 1
            if not any(base + number in self._used for base in SLOT_PORTS.values()):
                return number
        return None


def _own_port(stack: Stack, bound: Listening, owner: _Owner) -> Diagnostic:
    """orchestrator-health or TURN on a port of another program."""
    report = error if owner.certain else warning
    key = "turn.port" if bound.purpose == "TURN" else "health_port"
    return report(
        "avatar-port-taken",
        f"{bound.purpose} of {stack.name} and {owner.what} both use port {bound.port} of host {stack.settings.host}",
        Label(bound.origin.paths[0], bound.purpose),
        [owner.label] if owner.label is not None else [],
        f"move the other one, or write another {key} in avatars.{stack.name}",
    )


def _relay(stack: Stack, owners: list[_Owner]) -> Iterator[Diagnostic]:
    """The relay ports of TURN are UDP. With one port in use, some viewers get no media."""
    relay = effective_avatar.relay_ports(stack)
    if relay is None:
        return
    for owner in owners:
        if owner.protocol == "udp" and owner.port in relay.value:
            yield error(
                "avatar-port-taken",
                f"TURN of {stack.name} relays on {relay.value}, but {owner.what} uses UDP port {owner.port} of it",
                Label(relay.origin.paths[0], "the relay ports"),
                [owner.label] if owner.label is not None else [],
                f'move the other one, or write another range: turn.relay_ports = "{_shifted(relay.value.last)}"',
            )


def _shifted(last: int) -> str:
    start = last + 1 if last + 41 <= 65535 else 40000
    return f"{start}-{start + 40}"
