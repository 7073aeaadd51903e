"""What a user may write about avatars: the stack of one host, its slots, and who may reach them.

In: raw `avatars` tables. Out: frozen `Avatars` values. `effective_avatar.py` works out what is in force once defaults
are applied. Ids become names of Compose projects and words of env files, so they are restricted.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, StrictStr, Tag, model_validator
from pydantic.json_schema import WithJsonSchema

from fleetc.language import quantities as q
from fleetc.language.avatar_fields import (
    AllowEntry,
    AvatarTagField,
    Ipv4AddressField,
    SharedWebSocketUrl,
    SlotMemory,
    SlotNetworks,
)
from fleetc.language.avatar_tables import Edge, GameFiles, Images, Ops, Payments, Registration, ServiceName, Turn
from fleetc.language.fields import (
    GPU_UUID_PATTERN,
    AbsolutePath,
    Base,
    Duration,
    Flag,
    HostAddress,
    Integer,
    Listener,
    Name,
    Parsed,
    WholeSeconds,
    is_gpu_uuid,
    matching,
    refuse,
)
from fleetc.language.secret_fields import Secret
from fleetc.upstream.avatar import HIGHEST_SLOT, NEIGHBOURS, SLOT_PORTS

_AVATAR_ID = re.compile("[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")
_WORD = re.compile(r"[!-~]{1,200}")
_PROJECT_PREFIX = matching(
    re.compile("[a-z0-9][a-z0-9_-]{0,62}"),
    "this is not a prefix of a Compose project name",
    'write it like "vtuber-"',
)
MOST_OPEN_FILES = 1_048_576
"""The Linux limit per process, unless fs.nr_open is higher; Docker starts no container with more."""

_API_VERSION = matching(
    re.compile(r"1\.[1-9][0-9]{0,2}"), "this is not a version of the Docker API", 'write it like "1.44"'
)


def _avatar_id(text: str) -> str:
    form = "use letters, digits, _ and -, with a letter or digit at both ends, at most 63 characters"
    if "." in text:
        raise refuse(
            "an avatar id cannot contain a dot: it becomes the name of a Compose project, and Compose refuses dots",
            f'write "{text.replace(".", "-")}"' if _AVATAR_ID.fullmatch(text.replace(".", "-")) else form,
        )
    if not _AVATAR_ID.fullmatch(text):
        raise refuse("this avatar id cannot name a Compose project", form)
    if text.lower() == "host":
        raise refuse(
            'the avatar id "host" names the Compose project of the host itself, vtuber-host', "choose another one"
        )
    return text


def _slot_number(value: Any) -> int:
    form = "write a whole number such as 0, or leave it out for the lowest number that no other slot has"
    if type(value) is not int:
        raise refuse("a slot number must be a whole number", form)
    if value < 0:
        raise refuse("slot numbers start at 0", form)
    if value > HIGHEST_SLOT:
        last = max(SLOT_PORTS, key=lambda service: SLOT_PORTS[service])
        raise refuse(
            f"slot {value} would need the {last} port {SLOT_PORTS[last] + value}, but ports end at 65535",
            f"write a number from 0 to {HIGHEST_SLOT}",
        )
    return value


def _slot_count(value: Any) -> int:
    form = 'write the number of slots, such as 4, or list them: slots = [{ avatar = "mira" }]'
    if type(value) is not int:
        raise refuse("slots takes a number or a list of slots", form)
    if value < 1:
        raise refuse("a stack without slots has no avatars", f"{form}; if there are no avatars, remove the table")
    if value > HIGHEST_SLOT + 1:
        raise refuse(f"there are no ports left for slot {value - 1}", f"write a number from 1 to {HIGHEST_SLOT + 1}")
    return value


def _slot_gpu(value: Any) -> int | str:
    if value == "all" and isinstance(value, str):
        return "all"
    if (type(value) is int and 0 <= value <= 63) or is_gpu_uuid(value):
        return value  # type: ignore[no-any-return]  # narrowed above
    raise refuse(
        "a slot uses one GPU", 'write its position in the host\'s gpus list, counted from 0, its UUID, or "all"'
    )


def _open_files(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST_OPEN_FILES:
        raise refuse(
            "the limit of open files must be a whole number",
            f"write a number from 1 to {MOST_OPEN_FILES}, such as 4096",
        )
    return value


def _word(text: str) -> str:
    if not _WORD.fullmatch(text) or any(character in text for character in "#'\"\\$`"):
        raise refuse(
            "this is not a single argument of plain characters",
            "write each argument as a separate item, without spaces, quotes, # $ ` and \\",
        )
    return text


def _statistics_age(value: q.Duration) -> q.Duration:
    if value.microseconds > 600_000_000 or value.microseconds % 1_000_000:
        raise refuse("GPU statistics are cached for whole seconds, up to 600 s", 'write it like "5 s"')
    return value


def _some_slots(slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
    if not slots:
        raise refuse("a stack without slots has no avatars", "list one, or remove the table")
    return slots


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


class Slot(Base):
    """One slot: an avatar on a GPU, with its own ports."""

    avatar: Annotated[StrictStr, AfterValidator(_avatar_id)] = Field(
        description="Id of the avatar; the signaling server registers it, so it must be unique among an edge's slots.",
    )
    slot: (
        Annotated[
            int,
            Parsed(_slot_number),
            WithJsonSchema({"type": "integer", "minimum": 0, "maximum": HIGHEST_SLOT}),
        ]
        | None
    ) = Field(
        None,
        description="Number of the slot, which decides its ports; by default the lowest free number.",
        examples=[3],
    )
    gpu: SlotGpu | None = Field(
        None,
        description='GPU of the host that the slot renders and encodes on, or "all"; by default that of the table.',
        examples=[0],
    )
    game_command: Flag | None = Field(
        None, description="Whether the slot publishes the command port of its game; by default that of the table."
    )
    asleep: Flag = Field(
        False,
        description="Whether the slot sleeps. A rollout then stops it or creates it stopped, and nothing monitors it.",
    )


class Avatars(Base):
    """The avatar stack of one host: its slots, and what they share."""

    host: Name = Field(description="Host that the slots run on; a host can have only one stack.")
    avatar_release: AvatarTagField | None = Field(
        None, description="Release of this stack if it differs from the fleet's."
    )
    image_tag: AvatarTagField | None = Field(
        None, description="Tag of the service images if it differs from the release."
    )
    brand: Literal["avatar", "embody"] = Field(
        "avatar", description='Brand prefix of the settings that have one: AVATAR_, or EMBODY_ for "embody".'
    )
    slots: Annotated[
        Annotated[tuple[Slot, ...], AfterValidator(_some_slots), Tag("list")]
        | Annotated[
            int,
            Parsed(_slot_count),
            WithJsonSchema({"type": "integer", "minimum": 1, "maximum": HIGHEST_SLOT + 1}),
            Tag("count"),
        ],
        Discriminator(lambda value: "list" if isinstance(value, list | tuple) else "count"),
    ] = Field(description="The slots, or just their number; avatars are then named after the table: stage-0, stage-1.")
    gpu: SlotGpu | None = Field(None, description='GPU of the slots that do not name one, or "all".', examples=[0])
    game_command: Flag = Field(
        False,
        description="Whether slots publish the command port of their game on their host. Nothing else protects it, so "
        "the firewall lets only programs of that host reach it.",
    )
    slot_memory: SlotMemory | None = Field(
        None, description="GPU memory that a slot is assumed to take; 8 GiB by default."
    )
    slot_encode_sessions: Integer = Field(
        1,
        ge=1,
        le=1000,
        description="Hardware encode sessions that a slot takes, in addition to those of transcoding.",
        examples=[1],
    )
    game_args: tuple[Word, ...] = Field(
        (),
        description="Arguments of the game instead of the stack's own.",
        examples=[["-RenderOffscreen", "-ResX=1280"]],
    )
    game_files: GameFiles | None = Field(None, description="Settings files that the game starts with.")
    game_open_files: (
        Annotated[
            int,
            Parsed(_open_files),
            WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_OPEN_FILES}),
        ]
        | None
    ) = Field(None, description="How many files a game may have open; 1040 by default.", examples=[4096])
    signaling_args: tuple[Word, ...] = Field(
        (), description="Extra arguments of the signaling servers.", examples=[["--log_config"]]
    )
    signaling_rest_api: Flag = Field(False, description="Whether signaling servers answer REST API requests.")
    recorder_signaling: SharedWebSocketUrl | None = Field(
        None,
        description="Signaling server that recorders watch; by default that of the slot, ws://unreal-signaling:80.",
    )
    images: Images | None = Field(None, description="Images that have no release tag, pinned by digest.")
    allow: tuple[AllowEntry, ...] = Field(
        (), description='Who may call the host: "payments", addresses and networks; all others are refused.'
    )
    payments: Payments | None = Field(None, description="The payments service that the host works for.")
    registration: Registration | None = Field(None, description="Registration of the host with the payments service.")
    edge: Edge | None = Field(None, description="The edge that viewers connect through.")
    turn: Turn | None = Field(None, description="The TURN server of the host; without this table none runs.")
    stun: Listener | None = Field(
        None,
        description="STUN server for viewers; stun.l.google.com:19302 by default.",
        examples=["stun.example.net:3478"],
    )
    public: HostAddress | None = Field(
        None, description="Address of the host as seen from outside, if it differs from the host's public one."
    )
    remote_ops: Flag = Field(True, description="Whether the host can be upgraded remotely.")
    remote_cluster_control: Flag | None = Field(
        None, description="Whether slots can be started and stopped remotely; by default the release decides."
    )
    cli_auto_update: Flag | None = Field(
        None, description="Whether the command line updates its checkout; by default not while a release is given."
    )
    auto_upgrade_when_sleeping: Flag | None = Field(
        None, description="Whether a sleeping host upgrades itself; by default not while a release is given."
    )
    ops: Ops | None = Field(None, description="How remote operations are signed; unsigned by default.")
    runner_token: Secret | None = Field(
        None,
        description="Token that script runners require; the payments service sends none. Where a control plane steers "
        "the rotator, its configuration owns the tokens.",
    )
    recordings_token: Secret | None = Field(
        None, description="Token that recorders require; the payments service sends none."
    )
    health_port: Integer = Field(
        9090,
        ge=1,
        le=65535,
        description="Port of orchestrator-health; the payments service only uses 9090.",
        examples=[9090],
    )
    monitored_services: tuple[ServiceName, ...] | None = Field(
        None,
        description="Services that decide about health; TURN, signaling and games by default.",
        examples=[["vtuber-mira"]],
    )
    keep_running: tuple[ServiceName, ...] = Field(
        ("orchestrator-edge-rotator",), description="Services that a sleeping host keeps running."
    )
    power_project_prefixes: tuple[Annotated[StrictStr, _PROJECT_PREFIX], ...] = Field(
        ("vtuber-",), description="Name prefixes of the Compose projects that may be put to sleep remotely."
    )
    gpu_statistics_age: Annotated[Duration, AfterValidator(_statistics_age)] | None = Field(
        None, description="How long GPU statistics are cached; 5 s by default."
    )
    updater_interval: WholeSeconds | None = Field(
        None, description="How often images are checked for updates, in whole seconds; 900 s by default."
    )
    docker_api_version: Annotated[StrictStr, _API_VERSION] = Field(
        "1.44", description="Docker API version that the services of the stack use."
    )
    slot_networks: SlotNetworks | None = Field(
        None,
        description='Network that is divided among the slots: slot 3 gets its fourth /24; "172.30.0.0/16" by default.',
    )
    docker_gateways: tuple[Ipv4AddressField, ...] | None = Field(
        None, description="Gateways of the host's Docker bridges; 172.17.0.1 and 172.18.0.1 by default."
    )
    project_dir: AbsolutePath = Field(
        "/home/ubuntu/Unreal_Vtuber", description="Directory on the host that holds the checkout of the stack."
    )
    session_dir: AbsolutePath = Field(
        "/home/ubuntu/vtuber_sessions", description="Directory for sessions; each slot has its own subdirectory."
    )
    recordings_dir: AbsolutePath = Field(
        "/home/ubuntu/recordings", description="Directory for recordings; each slot has its own subdirectory."
    )
    beside: tuple[Literal[NEIGHBOURS], ...] = Field(  # type: ignore[valid-type]  # the names are in a data file
        (),
        description="Known services that also run on the host but are not in the spec; listed for their ports.",
        examples=[["node-exporter"]],
    )

    @model_validator(mode="after")
    def _turn_that_is_pinned_is_run(self) -> Avatars:
        if self.images is not None and self.images.turn is not None and self.turn is None:
            raise refuse(
                "images.turn pins the image of a TURN server, but this stack runs none",
                "remove images.turn, or add a turn table",
            )
        return self
