"""What is in force for the avatar stack of a host once defaults are applied: release, slots, ports, allowlists.

In: a sound `Fleet` and one of its stacks. Out: values with their origins. Rules and lowering both ask here, so that
what is checked is what is emitted. The sibling of `effective.py`, which does the same for nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from fleetc.language.answers import once
from fleetc.language.avatar import Slot
from fleetc.language.avatar_fields import PAYMENTS, AvatarTag
from fleetc.language.effective import gpu_index
from fleetc.language.fleet import Fleet, Stack
from fleetc.language.quantities import (
    Bytes,
    EthAddress,
    HostName,
    IpAddress,
    IpNetwork,
    PortRange,
    QuantityError,
    parse_ip,
)
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, Origin, default, derived, given
from fleetc.upstream.avatar import ABILITIES, FIXED_PORTS, LIMITS, SLOT_PORTS

PROJECT_PREFIX = "vtuber-"
"""Compose projects of the stack: this and the slug of a slot, or this and "host"."""

TURN_SERVICE = "turn-server"
DEFAULT_SLOT_MEMORY = Bytes(LIMITS["upstream_slot_memory_mib"] * 2**20)
DEFAULT_RELAY_PORTS = PortRange(49160, 49200)
DEFAULT_SLOT_NETWORKS = IPv4Network("172.30.0.0/16")
DEFAULT_DOCKER_GATEWAYS = (IPv4Address("172.17.0.1"), IPv4Address("172.18.0.1"))
LOOPBACK_ADDRESSES: tuple[IpAddress, ...] = (ip_address("127.0.0.1"), ip_address("::1"))

WIDEST_SPELLED_OUT = 256
"""How many addresses of one network are listed one by one, for readers that compare whole addresses."""


class SlotInForce(NamedTuple):
    """A slot of a stack: `path` is its place in the spec, `origin` that of its number.

    `gpu` is the id on the host, or "all" when the slot sees every GPU; `game_command` whether that port is published.
    """

    number: int
    avatar: str
    gpu: int | str
    gpu_origin: Origin
    game_command: bool
    path: Path
    origin: Origin
    network: IPv4Network | None
    asleep: bool

    @property
    def slug(self) -> str:
        """The avatar id as Compose and directories use it."""
        return self.avatar.lower()

    @property
    def project(self) -> str:
        """The Compose project of the slot."""
        return PROJECT_PREFIX + self.slug

    @property
    def ports(self) -> dict[str, int]:
        """The TCP ports that the slot publishes, by service: signaling, runner, recorder and, unless absent, game."""
        taken = {service: base + self.number for service, base in SLOT_PORTS.items()}
        if not self.game_command:
            del taken["game"]
        return taken

    @property
    def gateway(self) -> IPv4Address | None:
        """The gateway of the slot's network; calls from the host come from there."""
        return self.network.network_address + 1 if self.network is not None else None


class Allowed(NamedTuple):
    """A caller of the host: a network or an address, with its place in the spec."""

    network: IpNetwork
    origin: Origin

    @property
    def addresses(self) -> tuple[IpAddress, ...]:
        """Its addresses one by one; none if there are too many to list."""
        return tuple(self.network) if self.network.num_addresses <= WIDEST_SPELLED_OUT else ()


def release_of(fleet: Fleet, stack: Stack) -> Chosen[AvatarTag]:
    """The stack's own release, else the fleet's; the references of a sound fleet include one of the two."""
    own = stack.settings.avatar_release
    if own is not None:
        return Chosen(own, given(*stack.path, "avatar_release"))
    shared = fleet.fleet.avatar_release
    if shared is None:
        raise ValueError(f"stack {stack.name} has no release")
    return Chosen(shared, given("fleet", "avatar_release"))


def can(fleet: Fleet, stack: Stack, ability: str) -> bool | None:
    """Whether the stack's release has the ability of this name in `upstream.avatar.ABILITIES`; None when unknown."""
    release = release_of(fleet, stack).value.release
    return None if release is None else release >= ABILITIES[ability]


def image_tag(fleet: Fleet, stack: Stack) -> Chosen[AvatarTag]:
    """The tag of the service images: the release unless another tag is given."""
    if stack.settings.image_tag is not None:
        return Chosen(stack.settings.image_tag, given(*stack.path, "image_tag"))
    release = release_of(fleet, stack)
    return Chosen(release.value, derived("images have the tag of the release", *release.origin.paths))


@once
def slots_of(fleet: Fleet, stack: Stack) -> tuple[SlotInForce, ...]:
    """The slots of a stack, sorted by number. If two have the same number, which a rule refuses, both are here."""
    return tuple(sorted(_slots(fleet, stack), key=lambda slot: slot.number))


def _slots(fleet: Fleet, stack: Stack) -> Iterator[SlotInForce]:
    settings = stack.settings
    path = (*stack.path, "slots")
    if isinstance(settings.slots, int):
        counted = derived("counted from 0", path)
        for number in range(settings.slots):
            yield _slot(fleet, stack, Slot(avatar=f"{stack.name}-{number}"), number, path, counted)
        return
    taken = {slot.slot for slot in settings.slots if slot.slot is not None}
    free = 0
    for index, slot in enumerate(settings.slots):
        place = (*path, index)
        if slot.slot is not None:
            yield _slot(fleet, stack, slot, slot.slot, place, given(*place, "slot"))
            continue
        while free in taken:
            free += 1
        taken.add(free)
        yield _slot(fleet, stack, slot, free, place, default("the lowest number that no other slot has", place))


def _slot(fleet: Fleet, stack: Stack, slot: Slot, number: int, path: Path, origin: Origin) -> SlotInForce:
    settings = stack.settings
    gpu: int | str = "all"
    gpu_origin = default("a slot sees every GPU unless the spec names one", path)
    if slot.gpu is not None:
        gpu, gpu_origin = _gpu(fleet, stack, slot.gpu), given(*path, "gpu")
    elif settings.gpu is not None:
        gpu, gpu_origin = _gpu(fleet, stack, settings.gpu), given(*stack.path, "gpu")
    elif len(fleet.hosts[settings.host].gpus) == 1:
        gpu, gpu_origin = 0, derived("the only GPU of the host", ("hosts", settings.host, "gpus"))
    command = settings.game_command if slot.game_command is None else slot.game_command
    network = slot_network(slot_networks(stack).value, number)
    return SlotInForce(number, slot.avatar, gpu, gpu_origin, command, path, origin, network, slot.asleep)


def _gpu(fleet: Fleet, stack: Stack, gpu: int | str) -> int | str:
    return gpu if gpu == "all" else gpu_index(fleet, stack.settings.host, gpu)


def slot_networks(stack: Stack) -> Chosen[IPv4Network]:
    """The network that is divided among the slots of a stack."""
    if stack.settings.slot_networks is not None:
        return Chosen(stack.settings.slot_networks, given(*stack.path, "slot_networks"))
    return Chosen(DEFAULT_SLOT_NETWORKS, default("the network of the public design", stack.path))


def slot_network(networks: IPv4Network, number: int) -> IPv4Network | None:
    """The network of one slot: as many addresses as one byte has, at its number; None beyond slot 255."""
    if number >= LIMITS["slots_of_the_public_design"]:
        return None
    return IPv4Network((networks.network_address + 256 * number, 24))


def slot_memory(stack: Stack) -> Chosen[Bytes]:
    """GPU memory that each slot is assumed to take."""
    if stack.settings.slot_memory is not None:
        return Chosen(stack.settings.slot_memory, given(*stack.path, "slot_memory"))
    return Chosen(DEFAULT_SLOT_MEMORY, default("the estimate of the stack", stack.path))


def remote_cluster_control(fleet: Fleet, stack: Stack) -> Chosen[bool]:
    """Whether slots can be controlled remotely. Off for a tag that is not a release: its behaviour is unknown."""
    if stack.settings.remote_cluster_control is not None:
        return Chosen(stack.settings.remote_cluster_control, given(*stack.path, "remote_cluster_control"))
    release = release_of(fleet, stack)
    known = can(fleet, stack, "remote-cluster-control")
    since = ABILITIES["remote-cluster-control"]
    if known is None:
        why = f"off, because the release is unknown of the {release.value.kind} {release.value}"
    else:
        why = f"{'on from' if known else 'off before'} {since}"
    return Chosen(bool(known), default(why, *release.origin.paths))


def beside(fleet: Fleet, stack: Stack) -> dict[str, Origin]:
    """The known services that the spec puts beside a stack, by name."""
    settings, host = stack.settings, fleet.hosts[stack.settings.host]
    addresses = {host.address, host.public, settings.public}
    here = {service: given(*stack.path, "beside", index) for index, service in enumerate(settings.beside)}
    for key, service, known in (
        ("payments", "payments", settings.payments.addresses if settings.payments else ()),
        ("edge", "matchmaker", settings.edge.addresses if settings.edge else ()),
    ):
        for index, address in enumerate(known):
            if str(address) in addresses:
                here.setdefault(service, given(*stack.path, key, "addresses", index))
    return here


def startable_ports(fleet: Fleet, stack: Stack) -> Chosen[tuple[str, ...]]:
    """The TCP ports that the stack's own files publish for slots, whether or not the spec has these slots.

    Cluster control starts those of the public design, the command line fewer, and the single stack has ports besides.
    """
    control = remote_cluster_control(fleet, stack)
    count = LIMITS["slots_of_the_public_design" if control.value else "slots_of_the_command_line"]
    ranges = [PortRange(base, base + count - 1) for base in SLOT_PORTS.values()]
    single = [row.port for row in FIXED_PORTS if row.service == "single-stack"]
    ports = [*map(str, ranges), *(str(port) for port in single if not any(port in one for one in ranges))]
    why = f"the stack can start {count} slots, cluster control being {'on' if control.value else 'off'}"
    return Chosen(tuple(sorted(ports)), derived(why, *control.origin.paths))


def cli_auto_update(fleet: Fleet, stack: Stack) -> Chosen[bool]:
    """Whether the command line updates its checkout."""
    return _updates(fleet, stack, stack.settings.cli_auto_update, "cli_auto_update")


def auto_upgrade_when_sleeping(fleet: Fleet, stack: Stack) -> Chosen[bool]:
    """Whether a sleeping host upgrades itself."""
    return _updates(fleet, stack, stack.settings.auto_upgrade_when_sleeping, "auto_upgrade_when_sleeping")


def _updates(fleet: Fleet, stack: Stack, own: bool | None, key: str) -> Chosen[bool]:
    if own is not None:
        return Chosen(own, given(*stack.path, key))
    release = release_of(fleet, stack)
    if not release.value.fixed:
        return Chosen(True, default("a rolling tag follows what is newest", *release.origin.paths))
    named = "release" if release.value.release is not None else "commit"
    return Chosen(False, default(f"a named {named} stays until the spec names another", *release.origin.paths))


def public_address(fleet: Fleet, stack: Stack) -> Chosen[HostName] | None:
    """The host's address from outside; None when neither the stack nor its host gives one."""
    if stack.settings.public is not None:
        return Chosen(HostName(stack.settings.public), given(*stack.path, "public"))
    path = ("hosts", stack.settings.host, "public")
    public = fleet.hosts[stack.settings.host].public
    return Chosen(HostName(public), given(*path)) if public is not None else None


def public_ip(fleet: Fleet, stack: Stack) -> Chosen[IpAddress] | None:
    """The public address; None when it is a name or not given."""
    public = public_address(fleet, stack)
    try:
        return Chosen(parse_ip(public.value), public.origin) if public is not None else None
    except QuantityError:
        return None


def turn_address(fleet: Fleet, stack: Stack) -> Chosen[HostName] | None:
    """Where viewers reach TURN: as given, else the first edge, else the public address."""
    settings = stack.settings
    if settings.turn is None:
        return None
    if settings.turn.address is not None:
        return Chosen(HostName(settings.turn.address), given(*stack.path, "turn", "address"))
    if settings.edge is not None and settings.edge.addresses:
        edge = HostName(str(settings.edge.addresses[0]))
        return Chosen(edge, derived("viewers come through the edge", (*stack.path, "edge", "addresses", 0)))
    return public_address(fleet, stack)


def relay_ports(stack: Stack) -> Chosen[PortRange] | None:
    """The UDP ports that TURN relays media on; None without TURN."""
    turn = stack.settings.turn
    if turn is None:
        return None
    if turn.relay_ports is not None:
        return Chosen(turn.relay_ports, given(*stack.path, "turn", "relay_ports"))
    return Chosen(DEFAULT_RELAY_PORTS, default("the range of the public design", (*stack.path, "turn")))


def docker_gateways(stack: Stack) -> Chosen[tuple[IPv4Address, ...]]:
    """The gateways of the host's Docker bridges, from which its own containers call."""
    if stack.settings.docker_gateways is not None:
        return Chosen(stack.settings.docker_gateways, given(*stack.path, "docker_gateways"))
    return Chosen(DEFAULT_DOCKER_GATEWAYS, default("the first two bridges of Docker", stack.path))


def allowed(stack: Stack) -> tuple[Allowed, ...]:
    """Who may call the host, each network once, in the order of the spec; "payments" means its addresses."""
    found: dict[IpNetwork, Allowed] = {}
    for index, entry in enumerate(stack.settings.allow):
        path = (*stack.path, "allow", index)
        if isinstance(entry, IPv4Network | IPv6Network):
            found.setdefault(entry, Allowed(entry, given(*path)))
            continue
        for place, address in enumerate(stack.settings.payments.addresses if stack.settings.payments else ()):
            network = ip_network(address)
            origin = derived(f'"{PAYMENTS}" in the allowlist', (*stack.path, "payments", "addresses", place), path)
            found.setdefault(network, Allowed(network, origin))
    return tuple(found.values())


def account(fleet: Fleet, stack: Stack) -> Chosen[EthAddress] | None:
    """The account that the payments service pays; None without a registration, or without a wallet."""
    registration = stack.settings.registration
    if registration is None:
        return None
    if registration.address is not None:
        return Chosen(registration.address, given(*stack.path, "registration", "address"))
    wallet = fleet.orchestrators[registration.orchestrator or ""].wallet
    if wallet is None:
        return None
    path = (*stack.path, "registration", "orchestrator")
    return Chosen(fleet.wallets[wallet].address, derived("the wallet of that orchestrator", path))


def monitored_services(fleet: Fleet, stack: Stack) -> Chosen[tuple[str, ...]]:
    """The services that decide about the host's health, by container: TURN, then signaling and game of awake slots."""
    if stack.settings.monitored_services is not None:
        return Chosen(stack.settings.monitored_services, given(*stack.path, "monitored_services"))
    names = [f"{PROJECT_PREFIX}{TURN_SERVICE}"] if stack.settings.turn is not None else []
    for slot in (slot for slot in slots_of(fleet, stack) if not slot.asleep):
        names += [f"{slot.project}-unreal-signaling", f"{slot.project}-unreal-game"]
    return Chosen(tuple(names), derived("TURN, and signaling and game of awake slots", (*stack.path, "slots")))


def registered_services(fleet: Fleet, stack: Stack) -> Chosen[tuple[str, ...]] | None:
    """The services that the registration names; None without a registration."""
    registration = stack.settings.registration
    if registration is None:
        return None
    if registration.monitored_services is not None:
        return Chosen(registration.monitored_services, given(*stack.path, "registration", "monitored_services"))
    return monitored_services(fleet, stack)


def health_port(stack: Stack) -> Chosen[int]:
    """The port of orchestrator-health."""
    if "health_port" in stack.settings.model_fields_set:
        return Chosen(stack.settings.health_port, given(*stack.path, "health_port"))
    return Chosen(stack.settings.health_port, default("the port that the payments service uses", stack.path))
