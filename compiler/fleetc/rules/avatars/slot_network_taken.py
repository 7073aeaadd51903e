"""The network of a slot contains an address that is already in use.

Why: each slot gets the network 172.30.<slot>.0/24 on its host. The host can no longer reach that address: packets go
into the slot's network. fleetc compares all addresses that the stack names; it does not look up host names. An address
of another host of the fleet is a warning, because the two may never talk to each other.

Example:

    [hosts.gpu]
    address = "172.30.1.20"

    [avatars.stage]
    host = "gpu"
    slots = 2

Instead:

    [hosts.gpu]
    address = "172.30.1.20"

    [avatars.stage]
    host = "gpu"
    slots = 2
    slot_networks = "172.29.0.0/16"
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network
from itertools import chain
from typing import NamedTuple

from fleetc.language import effective_avatar
from fleetc.language.effective_avatar import SlotInForce
from fleetc.language.fleet import Fleet, Stack
from fleetc.language.quantities import QuantityError, parse_ip
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning

_CANDIDATES = tuple(
    IPv4Network(f"{start}.0.0/16")
    for start in chain(
        (f"172.{second}" for second in (*range(29, 18, -1), 31)),
        (f"10.{second}" for second in range(200, 256)),
        (f"100.{second}" for second in range(64, 128)),
    )
)
"""Networks to offer: first those near the usual one, without 172.17 and 172.18, which Docker uses first."""


class _Network(NamedTuple):
    """A network or a single address, its place in the spec and whose it is; `host` if it belongs to a host."""

    network: IPv4Network
    path: Path
    what: str
    host: str = ""


class _Hosts:
    """The addresses of all hosts, sorted, so that a network is compared with only a few of them."""

    def __init__(self, fleet: Fleet) -> None:
        found = (
            known
            for name, host in fleet.hosts.items()
            for key, text in (("address", host.address), ("public", host.public))
            for known in _address(text, ("hosts", name, key), f"host {name}", name)
        )
        self._sorted = sorted(found, key=lambda known: (known.network.network_address, known.host))
        self._addresses = [known.network.network_address for known in self._sorted]

    def within(self, network: IPv4Network) -> Iterator[_Network]:
        """The addresses in a network."""
        for place in range(bisect_left(self._addresses, network.network_address), len(self._sorted)):
            if self._addresses[place] not in network:
                return
            yield self._sorted[place]


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the networks of the slots with all addresses around the host in the spec."""
    if not fleet.stacks:
        return
    hosts = _Hosts(fleet)
    for stack in fleet.stacks:
        slots = [slot for slot in effective_avatar.slots_of(fleet, stack) if slot.network is not None]
        whole = effective_avatar.slot_networks(stack).value
        around = list(_around(fleet, stack))
        near = [known for known in around if known.network.overlaps(whole)]
        met = [(slot, known) for known in near if (slot := _met(slots, known)) is not None]
        said = {known.network for known in near}
        other = next(_of_other_hosts(stack, slots, hosts, said), None)
        help_ = _help(stack, around, hosts) if met or other else ""
        for slot, known in met:
            yield error(*_taken(stack, slot, known), help_)
        if other is not None:
            yield warning(*_taken(stack, *other), help_)


def _met(slots: list[SlotInForce], known: _Network) -> SlotInForce | None:
    """The first slot whose network overlaps a known one."""
    return next((slot for slot in slots if slot.network is not None and slot.network.overlaps(known.network)), None)


def _of_other_hosts(
    stack: Stack, slots: list[SlotInForce], hosts: _Hosts, said: set[IPv4Network]
) -> Iterator[tuple[SlotInForce, _Network]]:
    for slot in slots:
        for known in hosts.within(slot.network) if slot.network is not None else ():
            if known.host != stack.settings.host and known.network not in said:
                yield slot, known


def _taken(stack: Stack, slot: SlotInForce, known: _Network) -> tuple[str, str, Label, list[Label]]:
    """Code, message and places."""
    named = str(known.network.network_address if known.network.num_addresses == 1 else known.network)
    return (
        "slot-network-taken",
        f"slot {slot.number} of {stack.name} gets {slot.network}, but {named} belongs to {known.what}",
        Label(known.path, known.what),
        [Label(slot.path, f"slot {slot.number}")],
    )


def _around(fleet: Fleet, stack: Stack) -> Iterator[_Network]:
    """The IPv4 addresses and networks that a stack names, and those of its host."""
    settings, host = stack.settings, fleet.hosts[stack.settings.host]
    yield from _address(host.address, ("hosts", settings.host, "address"), "the host")
    yield from _address(host.public, ("hosts", settings.host, "public"), "the host")
    yield from _address(settings.public, (*stack.path, "public"), "the host")
    paid = (*stack.path, "payments")
    if settings.payments is not None:
        for index, caller in enumerate(settings.payments.addresses):
            yield from _address(caller, (*paid, "addresses", index), "the payments service")
        url = settings.payments.url
        yield from _address(url.host if url is not None else None, (*paid, "url"), "the payments service")
    for entry in effective_avatar.allowed(stack):
        path = entry.origin.paths[0]
        if isinstance(entry.network, IPv4Network) and path[: len(paid)] != paid:
            yield _Network(entry.network, path, "an allowed caller of the host")
    if settings.edge is not None:
        for index, address in enumerate(settings.edge.addresses):
            yield from _address(address, (*stack.path, "edge", "addresses", index), "an edge")
        url = settings.edge.url
        yield from _address(url.host if url is not None else None, (*stack.path, "edge", "url"), "the control plane")
    if settings.stun is not None:
        yield from _address(settings.stun.host, (*stack.path, "stun"), "the STUN server")
    gateways = effective_avatar.docker_gateways(stack)
    for index, address in enumerate(gateways.value):
        written = gateways.origin.kind == "given"
        path = (*stack.path, "docker_gateways", index) if written else (*stack.path, "slot_networks")
        yield from _address(address, path, "a bridge of Docker")


def _address(value: object, path: Path, what: str, host: str = "") -> Iterator[_Network]:
    """The address in a value; nothing for None, a host name and an IPv6 address."""
    try:
        network = ip_network(parse_ip(str(value)))
    except QuantityError:
        return
    if isinstance(network, IPv4Network):
        yield _Network(network, path, what, host)


def _help(stack: Stack, around: list[_Network], hosts: _Hosts) -> str:
    """A network without any address of the stack and of any host, if there is one."""
    for candidate in _CANDIDATES:
        if (
            not any(candidate.overlaps(known.network) for known in around)
            and next(hosts.within(candidate), None) is None
        ):
            return f'write slot_networks = "{candidate}" in avatars.{stack.name}, or another private network'
    return f"write slot_networks in avatars.{stack.name}: a private network where nothing else has an address"
