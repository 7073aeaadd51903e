"""Lowers the avatar stack of a host: settings of the host, TURN, every slot, and allowlists.

In: a fleet and one of its stacks. Out: a `StackBlueprint`: every value has an origin. The slot's variables have
everything that the stack's command line passes to Compose, so other ways to start it work too. Environment files cannot
hold arguments separated by spaces, because readers parse them differently: signaling and game get theirs from a Compose
file of the slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from operator import itemgetter
from typing import Any

from fleetc.blueprint.blueprint import (
    AVATAR_DIRECTORY,
    CLUSTER_FILE,
    GAME_SERVICE,
    RELEASE_ROOT,
    SIGNALING_SERVICE,
    TURN_SERVICE,
    AvatarSlot,
    BlueprintFile,
    SecretVariable,
    StackBlueprint,
    StackImage,
    Variable,
)
from fleetc.blueprint.listeners import Startable
from fleetc.language import effective_avatar as effective
from fleetc.language.avatar import Avatars
from fleetc.language.avatar_fields import AvatarTag
from fleetc.language.avatar_tables import Turn
from fleetc.language.effective_avatar import SlotInForce
from fleetc.language.fields import Base
from fleetc.language.fleet import Fleet, Stack
from fleetc.language.quantities import Duration
from fleetc.language.quantities.amounts import plain_number
from fleetc.language.secret_fields import SecretRef
from fleetc.lower.avatar_access import access_variables, addresses, allowlists, listed
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, default, derived, given
from fleetc.upstream.avatar import FIXED_PORTS

REGISTRATION = "orchestrator-registration"
HOST_SERVICES = (
    *("turn-server", "orchestrator-health", "orchestrator-edge-rotator"),
    *("vtuber-auto-updater", REGISTRATION),
)
"""What runs once per host, in start order."""

SLOT_FILE = "docker-compose.unreal.instance.yml"
STUN_SERVER = "stun.l.google.com:19302"
GAME_FILE_DIRECTORY = "pixel-streaming/config"
GAME_FILES = {
    "console_variables": "CONSOLE_VARIABLES",
    "engine": "ENGINE_INI",
    "game": "GAME_INI",
    "user_settings": "GAME_USER_SETTINGS",
}
"""The variable of each settings file of the game: the part between VTUBER_ and _FILE."""

_name = itemgetter(0)


def lower_avatar(fleet: Fleet, stack: Stack) -> StackBlueprint:
    """The whole stack of one host."""
    settings = stack.settings
    slots = effective.slots_of(fleet, stack)
    relay = effective.relay_ports(stack)
    turn = settings.turn
    return StackBlueprint(
        name=stack.name,
        release=str(effective.release_of(fleet, stack).value),
        image_tag=str(effective.image_tag(fleet, stack).value),
        ref=_ref(effective.release_of(fleet, stack).value),
        prefix=settings.brand.upper(),
        checkout=settings.project_dir,
        checkout_files=tuple(sorted({f"{GAME_FILE_DIRECTORY}/{file}" for _, file in _game_files(settings)})),
        services=tuple(_services(settings)),
        host_variables=_sorted(_host_variables(fleet, stack, slots)),
        steered=settings.edge is not None and settings.edge.url is not None,
        host_secrets=tuple(sorted(_host_secrets(stack), key=_name)),
        turn_variables=_sorted(_turn_variables(fleet, stack, turn)) if turn is not None else (),
        turn_secrets=_turn_secrets(stack, turn) if turn is not None else (),
        game_arguments=" ".join(settings.game_args),
        images=tuple(_images(stack)),
        slots=tuple(_slot(fleet, stack, slot) for slot in slots),
        cluster=_cluster(stack, slots),
        allowlists=allowlists(stack, slots),
        relay=(relay.value.first, relay.value.last) if relay is not None else None,
        startable=_startable(fleet, stack),
    )


def _startable(fleet: Fleet, stack: Stack) -> Startable:
    """What the packet filter closes unless the spec lists it."""
    ranges, here = effective.startable_ports(fleet, stack), effective.beside(fleet, stack)
    closed = [
        range(int(first), int(last or first) + 1) for first, _, last in (one.partition("-") for one in ranges.value)
    ]
    rows = [row for row in FIXED_PORTS if row.service in here and any(row.port in ports for ports in closed)]
    beside = tuple((row.port, row.purpose, here[row.service]) for row in rows)
    return Startable(ranges.value, str(effective.DEFAULT_SLOT_NETWORKS), beside, ranges.origin)


def _ref(tag: AvatarTag) -> str:
    """What git calls a release: its tag, or the commit of an image of one. Unknown for a rolling tag."""
    return tag.text.removeprefix("sha-") if tag.fixed else ""


def _services(settings: Avatars) -> Iterator[str]:
    """What this host runs. TURN and registration are left out unless the spec has them: they would only fail."""
    for name in HOST_SERVICES:
        if name == TURN_SERVICE and settings.turn is None:
            continue
        if name == REGISTRATION and settings.registration is None:
            continue
        yield name


def _images(stack: Stack) -> Iterator[StackImage]:
    """The images that have no release tag: as pinned in the spec, else the newest."""
    services = {"signaling": SIGNALING_SERVICE, "game": GAME_SERVICE, "turn": TURN_SERVICE}
    if stack.settings.turn is None:
        del services["turn"]
    for key, service in services.items():
        image = getattr(stack.settings.images, key, None)
        path = (*stack.path, "images")
        latest = default("the checkout always names its latest tag", stack.path)
        yield StackImage(service, image or "", given(*path, key) if image is not None else latest)


def _cluster(stack: Stack, slots: tuple[SlotInForce, ...]) -> BlueprintFile:
    """The slots as the stack's command line reads them. A GPU 0 is written as text: it reads the number 0 as no GPU.

    A slot that the command line does not know is included too: it then refuses the whole file and changes nothing.
    """
    content = {
        "slot_count": slots[-1].number + 1,
        "instances": [{"avatar_id": slot.avatar, "slot": slot.number, "gpu": str(slot.gpu)} for slot in slots],
    }
    places: dict[Path, Origin] = {}
    for index, slot in enumerate(slots):
        place = ("instances", index)
        places |= {place: slot.origin, (*place, "gpu"): slot.gpu_origin}
        places[*place, "avatar_id"] = derived("the avatar of the slot", slot.path)
    return BlueprintFile(CLUSTER_FILE, content, derived("the slots of the stack", (*stack.path, "slots")), places)


def _sorted(variables: Iterator[Variable]) -> tuple[Variable, ...]:
    return tuple(sorted(variables, key=_name))


# --- settings of the host ---------------------------------------------------------------------------


def _host_variables(fleet: Fleet, stack: Stack, slots: tuple[SlotInForce, ...]) -> Iterator[Variable]:
    settings, path = stack.settings, stack.path
    yield from _switches(fleet, stack)
    yield from _image_and_network(fleet, stack)
    yield from _registration(fleet, stack)
    yield from access_variables(stack, slots)
    yield from _edge(stack, slots)
    yield from _turn_ports(stack, settings.turn)
    monitored = effective.monitored_services(fleet, stack)
    yield Variable("MONITORED_SERVICES", ",".join(monitored.value), monitored.origin)
    port = effective.health_port(stack)
    yield Variable("ORCHESTRATOR_HEALTH_PORT", str(port.value), port.origin)
    yield Variable("POWER_ALLOWED_PROJECT_PREFIXES", *_list(stack, "power_project_prefixes"))
    yield Variable("POWER_KEEP_RUNNING_SERVICES", *_list(stack, "keep_running"))
    yield Variable("DOCKER_API_VERSION", settings.docker_api_version, _origin(settings, path, "docker_api_version"))
    yield Variable("VTUBER_SESSION_DIR", settings.session_dir, _origin(settings, path, "session_dir"))
    yield Variable("VTUBER_RECORDINGS_DIR", settings.recordings_dir, _origin(settings, path, "recordings_dir"))
    yield Variable("EDGE_PROJECT_DIR", settings.project_dir, _origin(settings, path, "project_dir"))
    memory = effective.slot_memory(stack)
    prefix = settings.brand.upper()
    yield Variable(f"{prefix}_VRAM_PER_INSTANCE_MIB", str(memory.value.count // 2**20), memory.origin)
    if settings.gpu_statistics_age is not None:
        age = _seconds(settings.gpu_statistics_age)
        yield Variable("META_GPU_STATS_TTL_SECONDS", age, given(*path, "gpu_statistics_age"))
    if settings.updater_interval is not None:
        interval = _seconds(settings.updater_interval)
        yield Variable("WATCHTOWER_INTERVAL", interval, given(*path, "updater_interval"))
    if settings.payments is not None and settings.payments.url is not None:
        yield Variable("PAYMENTS_API_URL", str(settings.payments.url), given(*path, "payments", "url"))
    if settings.ops is not None:
        required = _origin(settings.ops, (*path, "ops"), "required")
        yield Variable("OPS_HMAC_REQUIRED", _switch(settings.ops.required), required)
        if settings.ops.ttl is not None:
            yield Variable("OPS_HMAC_TTL_SECONDS", _seconds(settings.ops.ttl), given(*path, "ops", "ttl"))


def _switches(fleet: Fleet, stack: Stack) -> Iterator[Variable]:
    """The switches whose defaults differ between releases, Compose files and code: they are always written."""
    settings, prefix = stack.settings, stack.settings.brand.upper()
    yield Variable("EXPERIMENTAL_REMOTE_OPS", _switch(settings.remote_ops), _origin(settings, stack.path, "remote_ops"))
    control = effective.remote_cluster_control(fleet, stack)
    yield Variable("EXPERIMENTAL_REMOTE_CLUSTER_CONTROL", _switch(control.value), control.origin)
    update = effective.cli_auto_update(fleet, stack)
    yield Variable(f"{prefix}_CLI_NO_AUTO_UPDATE", _switch(not update.value), update.origin)
    upgrade = effective.auto_upgrade_when_sleeping(fleet, stack)
    yield Variable(f"{prefix}_CLI_AUTO_UPGRADE_WHEN_SLEEPING", _switch(upgrade.value), upgrade.origin)
    listed_there = derived("the file that lists the slots", (*stack.path, "slots"))
    yield Variable(f"{prefix}_CLUSTER_FILE", f"{RELEASE_ROOT}/current/{AVATAR_DIRECTORY}/{CLUSTER_FILE}", listed_there)


def _image_and_network(fleet: Fleet, stack: Stack) -> Iterator[Variable]:
    """What the Compose files of both the host and the slots read."""
    settings = stack.settings
    tag = effective.image_tag(fleet, stack)
    yield Variable(f"{settings.brand.upper()}_SERVICE_IMAGE_TAG", str(tag.value), tag.origin)
    public = effective.public_address(fleet, stack)
    if public is not None:
        yield Variable("PUBLIC_IP", public.value, public.origin)
    else:
        yield Variable("PUBLIC_IP", "auto", default("the stack looks for it itself", stack.path))
    if settings.stun is not None:
        yield Variable("STUN_SERVER", str(settings.stun), given(*stack.path, "stun"))
    else:
        yield Variable("STUN_SERVER", STUN_SERVER, default("the stack's own, written out", stack.path))


def _registration(fleet: Fleet, stack: Stack) -> Iterator[Variable]:
    registration, path = stack.settings.registration, (*stack.path, "registration")
    if registration is None:
        return
    yield Variable("ORCHESTRATOR_ID", registration.id, given(*path, "id"))
    account = effective.account(fleet, stack)
    if account is not None:
        yield Variable("ORCHESTRATOR_ADDRESS", str(account.value), account.origin)
    if registration.host_name is not None:
        yield Variable("ORCHESTRATOR_HOST_NAME", registration.host_name, given(*path, "host_name"))
    else:
        named = derived("the name of the host", (*stack.path, "host"))
        yield Variable("ORCHESTRATOR_HOST_NAME", stack.settings.host, named)
    public, port = effective.public_address(fleet, stack), effective.health_port(stack)
    address = effective.public_ip(fleet, stack)
    if address is not None:
        yield Variable("ORCHESTRATOR_HOST_PUBLIC_IP", str(address.value), address.origin)
    if public is not None:
        host = f"[{public.value}]" if ":" in public.value else public.value
        why = derived("the public address and the health port", *public.origin.paths, *port.origin.paths)
        yield Variable("ORCHESTRATOR_HEALTH_URL", f"http://{host}:{port.value}/health", why)
    services = effective.registered_services(fleet, stack)
    if services is not None:
        yield Variable("ORCHESTRATOR_MONITORED_SERVICES", ",".join(services.value), services.origin)
    if registration.capability is not None:
        yield Variable("ORCHESTRATOR_CAPABILITY", registration.capability, given(*path, "capability"))
    if registration.contact_email is not None:
        yield Variable("ORCHESTRATOR_CONTACT_EMAIL", registration.contact_email, given(*path, "contact_email"))
    if registration.health_timeout is not None:
        timeout = _seconds(registration.health_timeout)
        yield Variable("ORCHESTRATOR_HEALTH_TIMEOUT", timeout, given(*path, "health_timeout"))
    if registration.min_service_uptime is not None:
        uptime = registration.min_service_uptime.removesuffix("%")
        yield Variable("ORCHESTRATOR_MIN_SERVICE_UPTIME", uptime, given(*path, "min_service_uptime"))


def _host_secrets(stack: Stack) -> Iterator[SecretVariable]:
    settings, path = stack.settings, stack.path
    if settings.ops is not None:
        yield _secret("OPS_HMAC_SECRET", settings.ops.secret, given(*path, "ops", "secret"))
    if settings.runner_token is not None:
        yield _secret("RUNNER_API_TOKEN", settings.runner_token, given(*path, "runner_token"))
    if settings.recordings_token is not None:
        yield _secret("RECORDINGS_API_TOKEN", settings.recordings_token, given(*path, "recordings_token"))
    if settings.edge is not None and settings.edge.token is not None:
        yield _secret("EDGE_CONFIG_TOKEN", settings.edge.token, given(*path, "edge", "token"))


# --- TURN -------------------------------------------------------------------------------------------


def _turn_ports(stack: Stack, turn: Turn | None) -> Iterator[Variable]:
    """Ports of TURN: the host's Compose file publishes them under the same names that the server reads."""
    relay, path = effective.relay_ports(stack), (*stack.path, "turn")
    if turn is None or relay is None:
        return
    yield Variable("TURN_PORT", str(turn.port), _origin(turn, path, "port"))
    yield Variable("TURN_MIN_PORT", str(relay.value.first), relay.origin)
    yield Variable("TURN_MAX_PORT", str(relay.value.last), relay.origin)


def _turn_variables(fleet: Fleet, stack: Stack, turn: Turn) -> Iterator[Variable]:
    path = (*stack.path, "turn")
    yield from _turn_ports(stack, turn)
    yield Variable("TURN_REALM", turn.realm, _origin(turn, path, "realm"))
    address = effective.turn_address(fleet, stack)
    if address is None:
        return
    host = f"[{address.value}]" if ":" in address.value else address.value
    yield Variable("TURN_EXTERNAL_IP", address.value, address.origin)
    server = derived("the address and the port of TURN", *address.origin.paths, (*path, "port"))
    yield Variable("TURN_SERVER", f"{host}:{turn.port}", server)


def _turn_secrets(stack: Stack, turn: Turn) -> tuple[SecretVariable, ...]:
    path = (*stack.path, "turn")
    return (
        _secret("TURN_PASS", turn.password, given(*path, "password")),
        _secret("TURN_USER", turn.user, given(*path, "user")),
    )


# --- slots ------------------------------------------------------------------------------------------


def _slot(fleet: Fleet, stack: Stack, slot: SlotInForce) -> AvatarSlot:
    settings = stack.settings
    directories = tuple(f"{base}/{slot.slug}" for base in (settings.session_dir, settings.recordings_dir))
    return AvatarSlot(
        number=slot.number,
        avatar=slot.avatar,
        project=slot.project,
        gpu=str(slot.gpu),
        network=str(slot.network) if slot.network is not None else "",
        ports=tuple(slot.ports.items()),
        arguments=" ".join(_signaling_arguments(settings, slot)),
        variables=_sorted(_slot_variables(fleet, stack, slot)),
        directories=directories,
        origin=slot.origin,
        asleep=given(*slot.path, "asleep") if slot.asleep else None,
    )


def _signaling_arguments(settings: Avatars, slot: SlotInForce) -> Iterator[str]:
    """What registers the slot: its port and id, and without a control plane also the first edge."""
    edge = settings.edge
    if edge is not None and edge.url is None and edge.addresses:
        yield from ("--use_matchmaker", "--matchmaker_address", str(edge.addresses[0]))
        yield from ("--matchmaker_port", str(edge.matchmaker_port))
    yield from settings.signaling_args
    yield from ("--public_port", str(slot.ports["signaling"]), "--matchmaker_streamer_id", slot.avatar)


def _slot_variables(fleet: Fleet, stack: Stack, slot: SlotInForce) -> Iterator[Variable]:
    settings, path = stack.settings, stack.path
    yield from _image_and_network(fleet, stack)
    avatar = derived("the avatar of the slot", slot.path)
    yield Variable("VTUBER_AVATAR_ID", slot.avatar, avatar)
    yield Variable("VTUBER_AVATAR_SLUG", slot.slug, avatar)
    yield Variable("VTUBER_INSTANCE_PROJECT_NAME", slot.project, avatar)
    yield Variable("COMPOSE_PROJECT_NAME", slot.project, avatar)
    own = f"{RELEASE_ROOT}/current/{AVATAR_DIRECTORY}/slots/slot-{slot.number:02}.compose.yaml"
    files = derived("the file of the checkout and the slot's own", (*path, "project_dir"))
    yield Variable("COMPOSE_FILE", f"{settings.project_dir}/{SLOT_FILE}:{own}", files)
    names = {"signaling": "SIGNALING_PUBLIC", "runner": "RUNNER", "recorder": "RECORDER", "game": "GAME_TCP"}
    for service, port in slot.ports.items():
        origin = derived(f"the {service} port of slot {slot.number}", *slot.origin.paths)
        yield Variable(f"VTUBER_{names[service]}_PORT", str(port), origin)
    for name, key in (("VTUBER_SESSION_DIR", "session_dir"), ("VTUBER_RECORDINGS_DIR", "recordings_dir")):
        below = derived("a directory of the slot's own", (*path, key), slot.path)
        yield Variable(name, f"{getattr(settings, key)}/{slot.slug}", below)
    if slot.network is not None:
        networks = effective.slot_networks(stack)
        shared = derived("the share of the slot", *networks.origin.paths, *slot.origin.paths)
        yield Variable("VTUBER_DOCKER_SUBNET", str(slot.network), shared)
    yield listed(stack, "VTUBER_ALLOWED_ADDRESSES", addresses(stack, (slot,)))
    yield Variable("NVIDIA_VISIBLE_DEVICES", str(slot.gpu), slot.gpu_origin)
    everything = default("the game draws, encodes and computes", slot.path)
    yield Variable("NVIDIA_DRIVER_CAPABILITIES", "all", everything)
    yield from _programs(settings, path)
    turn = effective.turn_address(fleet, stack)
    if turn is not None:
        yield Variable("TURN_EXTERNAL_IP", turn.value, turn.origin)


def _programs(settings: Avatars, path: tuple[Any, ...]) -> Iterator[Variable]:
    """What signaling, recorder and game of a slot start from. Files that the spec does not set are the checkout's."""
    rest = _origin(settings, path, "signaling_rest_api")
    yield Variable("ENABLE_REST_API", _switch(settings.signaling_rest_api), rest)
    if settings.recorder_signaling is not None:
        watched = given(*path, "recorder_signaling")
        yield Variable("RECORDER_SIGNALING_URL", str(settings.recorder_signaling), watched)
    if settings.game_open_files is not None:
        yield Variable("HOST_ULIMIT_NOFILE", str(settings.game_open_files), given(*path, "game_open_files"))
    for key, file in _game_files(settings):
        chosen = given(*path, "game_files", key)
        yield Variable(f"VTUBER_{GAME_FILES[key]}_FILE", f"./{GAME_FILE_DIRECTORY}/{file}", chosen)


def _game_files(settings: Avatars) -> Iterator[tuple[str, str]]:
    """The settings files of the game that the spec chooses: key and name."""
    for key in GAME_FILES:
        file = getattr(settings.game_files, key, None)
        if file is not None:
            yield key, file


# --- the edge ---------------------------------------------------------------------------------------


def _edge(stack: Stack, slots: tuple[SlotInForce, ...]) -> Iterator[Variable]:
    """What the rotator reads. However it is started, it does not touch slots: they are separate Compose projects."""
    own = derived("slots are projects of their own", (*stack.path, "slots"))
    yield Variable("EDGE_SKIP_COMPOSE_RECREATE", "1", own)
    first = derived("the signaling port of the first slot", *slots[0].origin.paths)
    yield Variable("EDGE_SIGNALING_PUBLIC_PORT", str(slots[0].ports["signaling"]), first)
    blank = derived("slots have their arguments from files of their own", (*stack.path, "slots"))
    yield Variable("SIGNALING_MATCHMAKER_ARGS", "", blank)
    edge, path = stack.settings.edge, (*stack.path, "edge")
    if edge is None:
        return
    yield Variable("EDGE_ENFORCE_EXCLUSIVE", _switch(edge.exclusive), _origin(edge, path, "exclusive"))
    yield Variable("EDGE_UPDATE_TURN", _switch(edge.update_turn), _origin(edge, path, "update_turn"))
    matchmaker = _origin(edge, path, "matchmaker_port")
    yield Variable("EDGE_MATCHMAKER_DEFAULT_PORT", str(edge.matchmaker_port), matchmaker)
    if edge.url is not None:
        yield Variable("EDGE_CONFIG_URL", str(edge.url), given(*path, "url"))
    if edge.poll_interval is not None:
        yield Variable("EDGE_POLL_INTERVAL_SECONDS", _seconds(edge.poll_interval), given(*path, "poll_interval"))
    if edge.wake_settle is not None:
        yield Variable("EDGE_WAKE_SETTLE_SECONDS", _seconds(edge.wake_settle), given(*path, "wake_settle"))


# --- spelling ---------------------------------------------------------------------------------------


def _origin(table: Base, path: tuple[Any, ...], key: str) -> Origin:
    """Given if the spec has the key, else a default."""
    written = key in table.model_fields_set
    return given(*path, key) if written else default("the stack's own default, written out", path)


def _list(stack: Stack, key: str) -> tuple[str, Origin]:
    return ",".join(getattr(stack.settings, key)), _origin(stack.settings, stack.path, key)


def _switch(on: bool) -> str:
    return "1" if on else "0"


def _seconds(duration: Duration) -> str:
    return plain_number(Decimal(duration.microseconds) / 1_000_000)


def _secret(name: str, reference: SecretRef, origin: Origin) -> SecretVariable:
    return SecretVariable(name, reference.kind, reference.name, origin)
