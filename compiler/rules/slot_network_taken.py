"""The network of a slot holds an address that belongs to something else.

Why: each slot gets the network 172.30.<slot>.0/24 on its host. A caller, or the host itself, with an address in there
is no longer reached from the host: answers go into the slot's network.

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

from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network

from compiler.diagnostics import Diagnostic, Label, Path, error
from compiler.model import effective_avatar
from compiler.model.fleet import Fleet, Stack
from compiler.quantities import IpNetwork, QuantityError, parse_ip


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the networks of the slots with all that the spec says about addresses around the host."""
    for stack in fleet.stacks:
        whole = effective_avatar.slot_networks(stack).value
        slots = {slot.network: slot for slot in effective_avatar.slots_of(fleet, stack) if slot.network is not None}
        for network, path, what in _around(fleet, stack):
            if not isinstance(network, IPv4Network) or not network.overlaps(whole):
                continue
            met = next((slot for own, slot in slots.items() if own.overlaps(network)), None)
            if met is None:
                continue
            yield error(
                "slot-network-taken",
                f"slot {met.number} of {stack.name} gets {met.network}, and {_named(network)} belongs to {what}",
                Label(path, what),
                [Label(met.path, f"slot {met.number}")],
                f'write slot_networks = "{_other(whole)}" in avatars.{stack.name}, or another private network',
            )


def _around(fleet: Fleet, stack: Stack) -> Iterator[tuple[IpNetwork, Path, str]]:
    settings, host = stack.settings, fleet.hosts[stack.settings.host]
    for path, text in (
        (("hosts", settings.host, "address"), host.address),
        (("hosts", settings.host, "public"), host.public),
        ((*stack.path, "public"), settings.public),
    ):
        try:
            yield ip_network(parse_ip(text)), path, "the host"
        except QuantityError:
            continue
    for entry in effective_avatar.allowed(stack):
        yield entry.network, entry.origin.paths[0], "somebody who may call the host"
    if settings.edge is not None:
        for index, address in enumerate(settings.edge.addresses):
            yield ip_network(address), (*stack.path, "edge", "addresses", index), "an edge"
    gateways = effective_avatar.docker_gateways(stack)
    for index, address in enumerate(gateways.value):
        written = gateways.origin.kind == "given"
        path = (*stack.path, "docker_gateways", index) if written else (*stack.path, "slot_networks")
        yield ip_network(address), path, "a bridge of Docker"


def _named(network: IPv4Network) -> str:
    return str(network.network_address if network.num_addresses == 1 else network)


def _other(whole: IPv4Network) -> str:
    return "172.29.0.0/16" if whole != IPv4Network("172.29.0.0/16") else "172.28.0.0/16"
