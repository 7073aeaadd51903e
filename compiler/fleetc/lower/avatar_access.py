"""Who may call the avatar stack of a host: the allowlists of its services, and the ports that its rotator guards.

In: a fleet and one of its stacks. Out: allowlists in the notation of each reader, and the variables that contain them.
Called by `avatar.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network
from itertools import chain

from fleetc.blueprint.blueprint import (
    FIREWALL_ALLOWLIST,
    POWER_ALLOWLIST,
    RECORDER_ALLOWLIST,
    RUNNER_ALLOWLIST,
    AllowedNetwork,
    Allowlist,
    Variable,
)
from fleetc.language import effective_avatar as effective
from fleetc.language.effective_avatar import SlotInForce
from fleetc.language.fleet import Stack
from fleetc.places.origin import default, derived, given

BEHIND_DOCKER = {"signaling": 80, "runner": 9877, "recorder": 8889}
"""The port of each service of a slot after Docker has rewritten the packet's destination: the same in every slot."""


def allowlists(stack: Stack, slots: tuple[SlotInForce, ...]) -> tuple[Allowlist, ...]:
    """One list per reader: networks for firewall and power, whole addresses for runners and recorders."""
    return (
        Allowlist(FIREWALL_ALLOWLIST, _callers(stack)),
        Allowlist(POWER_ALLOWLIST, _power(stack)),
        Allowlist(RUNNER_ALLOWLIST, addresses(stack, slots)),
        Allowlist(RECORDER_ALLOWLIST, addresses(stack, slots)),
    )


def addresses(stack: Stack, slots: tuple[SlotInForce, ...]) -> tuple[AllowedNetwork, ...]:
    """Who may call runners and recorders. They compare whole addresses.

    Calls from the host itself arrive from the gateway of the slot's network.
    """
    edges = (AllowedNetwork(entry.text.removesuffix("/32"), entry.origin) for entry in _edges(stack))
    return _once(chain(_host_itself(stack), _gateways(slots), _allowed_addresses(stack), edges))


def access_variables(stack: Stack, slots: tuple[SlotInForce, ...]) -> Iterator[Variable]:
    """The allowlists that host services read from their environment, and the ports that the rotator guards."""
    yield listed(stack, "POWER_ALLOWED_IPS", _power(stack))
    edge = stack.settings.edge
    if edge is None or edge.url is None:
        # A non-empty file of allowed callers takes precedence over the list above, and both the rotator and the stack's
        # command line add to it. A blank name means that there is no file. If a control plane manages the host, the
        # file belongs to the rotator, and its name is not changed.
        only = derived("the list of the spec alone counts", (*stack.path, "allow"))
        yield Variable("EDGE_POWER_ALLOWED_IPS_FILE", "", only)
    yield listed(stack, "VTUBER_ALLOWED_ADDRESSES", addresses(stack, slots))
    # The rotator only reads IPv4 networks, and adds the edges that its control plane names.
    networks = tuple(
        AllowedNetwork(str(entry.network), entry.origin)
        for entry in effective.allowed(stack)
        if isinstance(entry.network, IPv4Network)
    )
    yield listed(stack, "EDGE_FIREWALL_EXTRA_CIDRS", networks)
    yield listed(stack, "EDGE_POWER_EXTRA_CIDRS", networks)
    local = _once(chain(_host_itself(stack), _gateways(slots), _allowed_addresses(stack)))
    yield listed(stack, "EDGE_LOCAL_ALLOWLIST", local)
    ports = derived("the ports of all slots, of health and of TURN", (*stack.path, "slots"))
    yield Variable("EDGE_ALLOW_PORTS", ",".join(_guarded_ports(stack, slots)), ports)


def listed(stack: Stack, name: str, entries: tuple[AllowedNetwork, ...]) -> Variable:
    """An allowlist as a variable."""
    paths = dict.fromkeys(path for entry in entries for path in entry.origin.paths)
    origin = derived("who may call", *(paths or ((*stack.path, "allow"),)))
    return Variable(name, ",".join(entry.text for entry in entries), origin)


# --- who --------------------------------------------------------------------------------------------


def _callers(stack: Stack) -> tuple[AllowedNetwork, ...]:
    """Who can reach the ports of the stack from outside: allowed callers and edges."""
    return _once(chain(_allowed(stack), _edges(stack)))


def _power(stack: Stack) -> tuple[AllowedNetwork, ...]:
    """Who may put the host to sleep and operate it: allowed callers and the host itself.

    It is never empty: some releases read an empty list as "everybody".
    """
    local = (AllowedNetwork(str(ip_network(entry.text)), entry.origin) for entry in _host_itself(stack))
    return _once(chain(local, _allowed(stack)))


def _allowed(stack: Stack) -> Iterator[AllowedNetwork]:
    for entry in effective.allowed(stack):
        yield AllowedNetwork(str(entry.network), entry.origin)


def _allowed_addresses(stack: Stack) -> Iterator[AllowedNetwork]:
    for entry in effective.allowed(stack):
        for address in entry.addresses:
            yield AllowedNetwork(str(address), entry.origin)


def _edges(stack: Stack) -> Iterator[AllowedNetwork]:
    edge = stack.settings.edge
    for index, address in enumerate(edge.addresses if edge is not None else ()):
        yield AllowedNetwork(f"{address}/32", given(*stack.path, "edge", "addresses", index))


def _host_itself(stack: Stack) -> Iterator[AllowedNetwork]:
    """The host as services in containers see it: loopback and the gateways of Docker's bridges."""
    own = default("the host itself", stack.path)
    for address in effective.LOOPBACK_ADDRESSES:
        yield AllowedNetwork(str(address), own)
    gateways = effective.docker_gateways(stack)
    for gateway in gateways.value:
        yield AllowedNetwork(str(gateway), gateways.origin)


def _gateways(slots: tuple[SlotInForce, ...]) -> Iterator[AllowedNetwork]:
    for slot in slots:
        if slot.gateway is not None:
            yield AllowedNetwork(str(slot.gateway), derived(f"the gateway of slot {slot.number}", *slot.origin.paths))


def _once(entries: Iterator[AllowedNetwork]) -> tuple[AllowedNetwork, ...]:
    """Each entry once, compared by text; the first one keeps its origin."""
    found: dict[str, AllowedNetwork] = {}
    for entry in entries:
        found.setdefault(entry.text, entry)
    return tuple(found.values())


# --- ports ------------------------------------------------------------------------------------------


def _guarded_ports(stack: Stack, slots: tuple[SlotInForce, ...]) -> Iterator[str]:
    """The ports that the rotator guards, one item per run of consecutive ports.

    It filters what Docker forwards after the rewriting, and the host's own ports by the number that the caller used.
    """
    for service, inside in BEHIND_DOCKER.items():
        for first, last in _runs(sorted({inside, *(slot.ports[service] for slot in slots)})):
            yield f"{_range(first, last)}/tcp"
    yield f"{effective.health_port(stack).value}/tcp"
    turn, relay = stack.settings.turn, effective.relay_ports(stack)
    if turn is not None and relay is not None:
        yield f"{turn.port}/tcp"
        yield f"{turn.port}/udp"
        yield f"{_range(relay.value.first, relay.value.last)}/udp"


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """The runs of consecutive numbers in a sorted list."""
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last
