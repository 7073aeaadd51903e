"""What a user may write about avatars: the stack of one host, its slots, and who may reach them.

In: raw `avatars` tables. Out: frozen `Avatars` values. What is in force once defaults are applied is worked out in
`effective_avatar.py`. Ids become names of Compose projects and words of env files, so they are restricted.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, StrictStr, Tag, model_validator
from pydantic.json_schema import WithJsonSchema

from compiler import quantities as q
from compiler.model.avatar_fields import (
    AllowEntry,
    AvatarTagField,
    CallerAddress,
    Ipv4AddressField,
    PortRangeField,
    SharedUrl,
    SlotMemory,
    SlotNetworks,
    shared_text,
)
from compiler.model.fields import (
    GPU_UUID_PATTERN,
    AbsolutePath,
    Address,
    Base,
    Duration,
    Flag,
    HostAddress,
    Integer,
    Listener,
    Name,
    Parsed,
    Secret,
    WholeSeconds,
    is_gpu_uuid,
    refuse,
)
from compiler.upstream.avatar import HIGHEST_SLOT, LIMITS, NEIGHBOURS, SLOT_PORTS

_AVATAR_ID = re.compile("[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")
_WORD = re.compile(r"[!-~]{1,200}")
_PROJECT_PREFIX = re.compile("[a-z0-9][a-z0-9_-]{0,62}")
_SERVICE = re.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_REGISTERED_ID = re.compile("[A-Za-z0-9._-]{1,64}")
_API_VERSION = re.compile(r"1\.[1-9][0-9]{0,2}")
_EMAIL = re.compile(r"[^@\s]{1,64}@[A-Za-z0-9.-]{1,190}")


def _avatar_id(text: str) -> str:
    form = "write letters, digits, _ and -, a letter or digit at both ends, at most 63 characters"
    if "." in text:
        raise refuse(
            "an avatar id may hold no dot: it becomes the name of a Compose project, and Compose refuses dots",
            f'write "{text.replace(".", "-")}"' if _AVATAR_ID.fullmatch(text.replace(".", "-")) else form,
        )
    if not _AVATAR_ID.fullmatch(text):
        raise refuse("this is not an avatar id that can name a Compose project", form)
    if text.lower() == "host":
        raise refuse(
            'the avatar id "host" names the Compose project of the host itself, vtuber-host', "choose another one"
        )
    return text


def _slot_number(value: Any) -> int:
    form = "write a whole number such as 0; left out, it is the lowest that no other slot has"
    if type(value) is not int:
        raise refuse("the number of a slot is a whole number", form)
    if value < 0:
        raise refuse("slots are counted from 0", form)
    if value > HIGHEST_SLOT:
        last = max(SLOT_PORTS, key=lambda service: SLOT_PORTS[service])
        raise refuse(
            f"slot {value} would need the {last} port {SLOT_PORTS[last] + value}, and ports end at 65535",
            f"write a number from 0 to {HIGHEST_SLOT}",
        )
    return value


def _slot_count(value: Any) -> int:
    form = 'write how many slots, such as 4, or list them: slots = [{ avatar = "mira" }]'
    if type(value) is not int:
        raise refuse("slots is a number of slots or a list of them", form)
    if value < 1:
        raise refuse("a stack without slots carries no avatar", f"{form}; without avatars take the table away")
    if value > HIGHEST_SLOT + 1:
        raise refuse(f"ports end before slot {value - 1}", f"write a number from 1 to {HIGHEST_SLOT + 1}")
    return value


def _slot_gpu(value: Any) -> int | str:
    if value == "all" and isinstance(value, str):
        return "all"
    if (type(value) is int and 0 <= value <= 63) or is_gpu_uuid(value):
        return value  # type: ignore[no-any-return]  # narrowed above
    raise refuse("a slot uses one GPU", 'write its place in the list of the host, from 0, its UUID, or "all"')


def _word(text: str) -> str:
    if not _WORD.fullmatch(text) or any(character in text for character in "#'\"\\$`"):
        raise refuse(
            "this is not one argument of plain characters",
            "write each argument as an item of its own, without spaces, quotes, # $ ` and \\",
        )
    return text


def _prefix(text: str) -> str:
    if not _PROJECT_PREFIX.fullmatch(text):
        raise refuse("this is not the beginning of a Compose project name", 'write it like "vtuber-"')
    return text


def _service(text: str) -> str:
    if not _SERVICE.fullmatch(text):
        raise refuse("this is not the name of a service", 'write it like "vtuber-mira-unreal-game"')
    return text


def _registered_id(text: str) -> str:
    if not _REGISTERED_ID.fullmatch(text):
        raise refuse("this is not the id of an orchestrator", "write 1 to 64 letters, digits and . _ -")
    return text


def _email(text: str) -> str:
    if not _EMAIL.fullmatch(text):
        raise refuse("this is not an email address", 'write it like "operator@example.net"')
    return shared_text(text)


def _capability(text: str) -> str:
    if len(text) > 128:
        raise refuse("the capability has at most 128 characters", "shorten it")
    if not text:
        raise refuse("the capability is empty", "write one, or leave it out")
    return shared_text(text)


def _realm(text: str) -> str:
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{0,126}", text):
        raise refuse("this is not a realm", 'write letters, digits and . _ - such as "pixel-streaming"')
    return text


def _api_version(text: str) -> str:
    if not _API_VERSION.fullmatch(text):
        raise refuse("this is not a version of the Docker API", 'write it like "1.44"')
    return text


def _ops_ttl(value: q.Duration) -> q.Duration:
    if not 10 <= value.microseconds // 1_000_000 <= 86_400:
        raise refuse("a signature counts from 10 s to 24 h", 'write it like "300 s"')
    return value


def _poll_interval(value: q.Duration) -> q.Duration:
    if value.microseconds < LIMITS["edge_poll_seconds"] * 1_000_000:
        raise refuse(
            f"the control plane is asked every {LIMITS['edge_poll_seconds']} s at most", 'write it like "15 s"'
        )
    return value


def _health_timeout(value: q.Duration) -> q.Duration:
    if not 100_000 <= value.microseconds <= 60_000_000:
        raise refuse("a health check takes from 0.1 s to 60 s", 'write it like "5 s"')
    return value


def _statistics_age(value: q.Duration) -> q.Duration:
    if value.microseconds > 600_000_000 or value.microseconds % 1_000_000:
        raise refuse("GPU statistics are kept for whole seconds, up to 600 s", 'write it like "5 s"')
    return value


def _some_slots(slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
    if not slots:
        raise refuse("a stack without slots carries no avatar", "list one, or take the table away")
    return slots


def _some_addresses(addresses: tuple[q.IpAddress, ...]) -> tuple[q.IpAddress, ...]:
    if not addresses:
        raise refuse("the payments service calls from some address", 'write it like addresses = ["203.0.113.90"]')
    return addresses


def _is_count(value: Any) -> str:
    return "list" if isinstance(value, list | tuple) else "count"


SlotGpu = Annotated[
    int | str,
    Parsed(_slot_gpu),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": 63},
                {"type": "string", "pattern": f"^{GPU_UUID_PATTERN}$"},
                {"const": "all"},
            ]
        }
    ),
]
Word = Annotated[StrictStr, AfterValidator(_word)]
ServiceName = Annotated[StrictStr, AfterValidator(_service)]


class Slot(Base):
    """One slot: an avatar on a GPU, with ports of its own."""

    avatar: Annotated[StrictStr, AfterValidator(_avatar_id)] = Field(
        description="Id of the avatar; the signaling server registers it, so it is unique among all slots of an edge."
    )
    slot: (
        Annotated[
            int,
            Parsed(_slot_number),
            WithJsonSchema({"type": "integer", "minimum": 0, "maximum": HIGHEST_SLOT}),
        ]
        | None
    ) = Field(
        None, description="Number of the slot, from which its ports follow; left out, the lowest that is not taken."
    )
    gpu: SlotGpu | None = Field(
        None, description='GPU of the host that the slot draws and encodes on, or "all"; else that of the table.'
    )
    game_command: Flag | None = Field(
        None, description="Whether the slot publishes the command port of its game; else as the table says."
    )


class Payments(Base):
    """The payments service: it asks hosts for their state, puts them to sleep and wakes, upgrades and pays them."""

    addresses: Annotated[tuple[CallerAddress, ...], AfterValidator(_some_addresses)] = Field(
        description="Addresses that its calls come from; every allowlist that names payments gets them."
    )
    url: SharedUrl | None = Field(None, description="Address of its API, such as http://203.0.113.90:8081.")


class Edge(Base):
    """The edge in front of the host: it leads viewers to slots, and its control plane may steer the host."""

    addresses: tuple[Ipv4AddressField, ...] = Field((), description="Addresses of the edges that viewers come through.")
    url: SharedUrl | None = Field(
        None, description="Control plane that the host polls; it then owns allowlists and matchmaker arguments."
    )
    token: Secret | None = Field(None, description="Token for the control plane.")
    matchmaker_port: Integer = Field(8889, ge=1, le=65535, description="Port of the matchmaker of the edge.")
    poll_interval: Annotated[WholeSeconds, AfterValidator(_poll_interval)] | None = Field(
        None, description="How often the control plane is asked, in whole seconds; 15 s when left out, never below 5."
    )
    wake_settle: WholeSeconds | None = Field(
        None, description="How long a host that wakes is left alone, in whole seconds; 60 s when left out."
    )
    exclusive: Flag = Field(True, description="Whether everybody but the edge is kept from the ports of the stack.")
    update_turn: Flag = Field(
        False, description="Whether the edge rewrites the address of TURN; it then always writes port 3478."
    )

    @model_validator(mode="after")
    def _token_and_address_together(self) -> Edge:
        if (self.url is None) != (self.token is None):
            missing = "url" if self.url is None else "token"
            raise refuse(
                "a control plane has an address and a token", f"add {missing}, or take the other one of the two away"
            )
        return self


class Turn(Base):
    """The TURN server of the host, which relays media for viewers behind strict networks."""

    address: HostAddress | None = Field(
        None, description="Address that viewers reach it at; behind an edge that of the edge, else the public one."
    )
    port: Integer = Field(3478, ge=1, le=65535, description="Port for TCP and UDP.")
    relay_ports: PortRangeField | None = Field(
        None, description='UDP ports for relayed media; "49160-49200" when left out, which is 41 for the whole host.'
    )
    realm: Annotated[StrictStr, AfterValidator(_realm)] = Field(
        "pixel-streaming", description="Realm of its credentials."
    )
    user: Secret = Field(description="Where the user name for TURN is found.")
    password: Secret = Field(description="Where the password for TURN is found.")


class Ops(Base):
    """How remote operations are signed."""

    secret: Secret = Field(description="Where the secret is found that signs calls of /ops and /cluster.")
    required: Flag = Field(
        False, description="Whether calls without a signature are refused; the payments service sends none."
    )
    ttl: Annotated[WholeSeconds, AfterValidator(_ops_ttl)] | None = Field(
        None, description="How long a signature counts, from 10 s to 24 h; 300 s when left out."
    )


class Registration(Base):
    """How the host is made known to the payments service: one registration for all its slots."""

    id: Annotated[StrictStr, AfterValidator(_registered_id)] = Field(
        description="Id under which the payments service knows the host; one address belongs to one id."
    )
    orchestrator: Name | None = Field(
        None, description="Orchestrator of this fleet whose account is paid; or write its address."
    )
    address: Address | None = Field(None, description="Account that is paid; it must be in the active set.")
    capability: Annotated[StrictStr, AfterValidator(_capability)] | None = Field(
        None, description="Capability that is told, at most 128 characters."
    )
    contact_email: Annotated[StrictStr, AfterValidator(_email)] | None = Field(
        None, description="Email address for the operators of the payments service."
    )
    health_timeout: Annotated[Duration, AfterValidator(_health_timeout)] | None = Field(
        None, description="How long a health check of the host may take, from 0.1 s to 60 s."
    )
    min_service_uptime: Integer | None = Field(
        None, ge=0, le=100, description="Percent of time that monitored services must run."
    )
    monitored_services: tuple[ServiceName, ...] | None = Field(
        None, description="Services that the registration names, at most 25; those of the stack when left out."
    )

    @model_validator(mode="after")
    def _one_account(self) -> Registration:
        if (self.orchestrator is None) == (self.address is None):
            raise refuse(
                "a registration names one account",
                'write orchestrator = "<name of an orchestrator of this fleet>" or address = "0x...", not both',
            )
        return self


class Avatars(Base):
    """The avatar stack of one host: its slots, and what they share."""

    host: Name = Field(description="Host that the slots run on; a host has one stack.")
    avatar_release: AvatarTagField | None = Field(
        None, description="Release of this stack, when it differs from the fleet's."
    )
    image_tag: AvatarTagField | None = Field(
        None, description="Tag of the service images, when it differs from the release."
    )
    brand: Literal["avatar", "embody"] = Field(
        "avatar", description='Prefix of the settings that carry a brand: AVATAR_, or EMBODY_ for "embody".'
    )
    slots: Annotated[
        Annotated[tuple[Slot, ...], AfterValidator(_some_slots), Tag("list")]
        | Annotated[
            int,
            Parsed(_slot_count),
            WithJsonSchema({"type": "integer", "minimum": 1, "maximum": HIGHEST_SLOT + 1}),
            Tag("count"),
        ],
        Discriminator(_is_count),
    ] = Field(description="The slots, or how many; their avatars are then named after the table: stage-0, stage-1.")
    gpu: SlotGpu | None = Field(None, description='GPU of the slots that name none, or "all".')
    game_command: Flag = Field(
        True, description="Whether slots publish the command port of their game; nothing protects it but a firewall."
    )
    slot_memory: SlotMemory | None = Field(
        None, description="GPU memory that a slot is reckoned to take; 8 GiB when left out."
    )
    slot_encode_sessions: Integer = Field(
        1, ge=1, le=1000, description="Hardware encode sessions that a slot takes, beside those of transcoding."
    )
    game_args: tuple[Word, ...] = Field((), description="Arguments of the game instead of the stack's own.")
    signaling_args: tuple[Word, ...] = Field((), description="Further arguments of the signaling servers.")
    allow: tuple[AllowEntry, ...] = Field(
        (), description='Who may call the host: "payments", addresses and networks. Nobody else may.'
    )
    payments: Payments | None = Field(None, description="The payments service that the host works for.")
    registration: Registration | None = Field(None, description="Registration of the host with the payments service.")
    edge: Edge | None = Field(None, description="The edge that viewers come through.")
    turn: Turn | None = Field(None, description="The TURN server of the host; without it none is run.")
    stun: Listener | None = Field(
        None, description="STUN server that tells viewers their address; stun.l.google.com:19302 when left out."
    )
    public: HostAddress | None = Field(
        None, description="Address under which the host is reached from outside, when it is not the host's public one."
    )
    remote_ops: Flag = Field(True, description="Whether the host can be upgraded remotely.")
    remote_cluster_control: Flag | None = Field(
        None, description="Whether slots can be started and stopped remotely; the release decides when left out."
    )
    cli_auto_update: Flag | None = Field(
        None, description="Whether the command line updates its checkout; left out, not while a release is named."
    )
    auto_upgrade_when_sleeping: Flag | None = Field(
        None, description="Whether a sleeping host upgrades itself; left out, not while a release is named."
    )
    ops: Ops | None = Field(None, description="How remote operations are signed; unsigned when left out.")
    runner_token: Secret | None = Field(
        None, description="Token that script runners ask for; the payments service sends none."
    )
    recordings_token: Secret | None = Field(
        None, description="Token that recorders ask for; the payments service sends none."
    )
    health_port: Integer = Field(
        9090, ge=1, le=65535, description="Port of orchestrator-health; the payments service knows 9090 only."
    )
    monitored_services: tuple[ServiceName, ...] | None = Field(
        None, description="Services whose state decides about health; TURN, signaling and games when left out."
    )
    keep_running: tuple[ServiceName, ...] = Field(
        ("orchestrator-edge-rotator",), description="Services that a sleeping host keeps running."
    )
    power_project_prefixes: tuple[Annotated[StrictStr, AfterValidator(_prefix)], ...] = Field(
        ("vtuber-",), description="Beginnings of the Compose projects that may be put to sleep remotely."
    )
    gpu_statistics_age: Annotated[Duration, AfterValidator(_statistics_age)] | None = Field(
        None, description="How long GPU statistics are kept before they are asked anew; 5 s when left out."
    )
    updater_interval: WholeSeconds | None = Field(
        None, description="How often images are looked at for updates, in whole seconds; 900 s when left out."
    )
    docker_api_version: Annotated[StrictStr, AfterValidator(_api_version)] = Field(
        "1.44", description="Version of the Docker API that the services of the stack speak."
    )
    slot_networks: SlotNetworks | None = Field(
        None, description='Network that the slots share out, slot 3 as its fourth /24; "172.30.0.0/16" when left out.'
    )
    docker_gateways: tuple[Ipv4AddressField, ...] | None = Field(
        None, description="Gateways of the host's Docker bridges; 172.17.0.1 and 172.18.0.1 when left out."
    )
    project_dir: AbsolutePath = Field(
        "/home/ubuntu/Unreal_Vtuber", description="Directory on the host that holds the checkout of the stack."
    )
    session_dir: AbsolutePath = Field(
        "/home/ubuntu/vtuber_sessions", description="Directory for sessions; each slot has its own below it."
    )
    recordings_dir: AbsolutePath = Field(
        "/home/ubuntu/recordings", description="Directory for recordings; each slot has its own below it."
    )
    beside: tuple[Literal[NEIGHBOURS], ...] = Field(  # type: ignore[valid-type]  # the names stand in a data file
        (), description="Known services that run on the host although the spec does not describe them, for their ports."
    )
