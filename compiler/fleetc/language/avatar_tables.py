"""The tables below an avatar stack: who pays, the edge, TURN, how calls are signed, and what its programs start with.

In: raw tables such as `avatars.<name>.turn`. Out: frozen values. Used by `avatar.py`, which has the stack itself.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StrictStr, model_validator
from pydantic.json_schema import WithJsonSchema

from fleetc.language import quantities as q
from fleetc.language.avatar_fields import CallerAddress, Ipv4AddressField, PortRangeField, SharedUrl, shared_text
from fleetc.language.fields import (
    Address,
    Base,
    Duration,
    Flag,
    HostAddress,
    Image,
    Integer,
    Name,
    WholeSeconds,
    matching,
    percentage,
    refuse,
)
from fleetc.language.images import split_image
from fleetc.language.secret_fields import Secret
from fleetc.upstream.avatar import LIMITS

_SERVICE = re.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_REGISTERED_ID = re.compile("[A-Za-z0-9._-]{1,64}")
_EMAIL = re.compile(r"[^@\s]{1,64}@[A-Za-z0-9.-]{1,190}")
_GAME_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.ini")
Uptime = Annotated[str, percentage(0), WithJsonSchema({"type": "string", "pattern": "^([0-9]|[1-9][0-9]|100)%$"})]
_DIGEST = re.compile("sha256:[0-9a-f]{64}")


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


def _ops_ttl(value: q.Duration) -> q.Duration:
    if not 10 <= value.microseconds // 1_000_000 <= 86_400:
        raise refuse("a signature is valid for 10 s to 24 h", 'write it like "300 s"')
    return value


def _poll_interval(value: q.Duration) -> q.Duration:
    if value.microseconds < LIMITS["edge_poll_seconds"] * 1_000_000:
        raise refuse(
            f"the host polls no more often than every {LIMITS['edge_poll_seconds']} s",
            'write it like "15 s"',
        )
    return value


def _health_timeout(value: q.Duration) -> q.Duration:
    if not 100_000 <= value.microseconds <= 60_000_000:
        raise refuse("a health check may take from 0.1 s to 60 s", 'write it like "5 s"')
    return value


def _some_addresses(addresses: tuple[q.IpAddress, ...]) -> tuple[q.IpAddress, ...]:
    if not addresses:
        raise refuse(
            "the payments service needs at least one address",
            'write the addresses it calls from: addresses = ["203.0.113.90"]',
        )
    return addresses


def _host_name(text: str) -> str:
    if not 1 <= len(text) <= 128:
        raise refuse("the name of the host has 1 to 128 characters", 'write it like "stage-1"')
    return shared_text(text)


def _pinned_image(text: str) -> str:
    if not _DIGEST.fullmatch(split_image(text)[1]):
        raise refuse(
            "pin an image of an avatar stack by its digest, because its tags move",
            'add @sha256: and the 64 hexadecimal digits that "docker image inspect" shows',
        )
    return text


ServiceName = Annotated[
    StrictStr, matching(_SERVICE, "this is not the name of a service", 'write it like "vtuber-mira-unreal-game"')
]
GameFile = Annotated[
    StrictStr,
    matching(
        _GAME_FILE,
        "this is not the name of a settings file of the game",
        'name a file in pixel-streaming/config of the checkout, such as "GameUserSettings.ini"',
    ),
    WithJsonSchema({"type": "string", "pattern": f"^{_GAME_FILE.pattern}$"}),
]
PinnedImage = Annotated[Image, AfterValidator(_pinned_image)]


class Payments(Base):
    """The payments service: it asks hosts for their state, puts them to sleep, wakes, upgrades and pays them."""

    addresses: Annotated[tuple[CallerAddress, ...], AfterValidator(_some_addresses)] = Field(
        description="Addresses that its calls come from; every allowlist with payments gets them."
    )
    url: SharedUrl | None = Field(None, description="Address of its API, such as http://203.0.113.90:8081.")


class Edge(Base):
    """The edge in front of the host: it routes viewers to slots, and its control plane may control the host."""

    addresses: tuple[Ipv4AddressField, ...] = Field(
        (), description="Addresses of the edges that viewers connect through."
    )
    url: SharedUrl | None = Field(
        None, description="Control plane that the host polls; it then owns allowlists and matchmaker arguments."
    )
    token: Secret | None = Field(None, description="Token for the control plane.")
    matchmaker_port: Integer = Field(8889, ge=1, le=65535, description="Port of the matchmaker of the edge.")
    poll_interval: Annotated[WholeSeconds, AfterValidator(_poll_interval)] | None = Field(
        None, description="How often the control plane is polled, in whole seconds; 15 s by default, never below 5."
    )
    wake_settle: WholeSeconds | None = Field(
        None, description="How long a waking host is left alone, in whole seconds; 60 s by default."
    )
    exclusive: Flag = Field(True, description="Whether only the edge may reach the ports of the stack.")
    update_turn: Flag = Field(
        False, description="Whether the edge rewrites the TURN address; it then always writes port 3478."
    )

    @model_validator(mode="after")
    def _token_and_address_together(self) -> Edge:
        if (self.url is None) != (self.token is None):
            missing = "url" if self.url is None else "token"
            raise refuse("a control plane needs both an address and a token", f"add {missing}, or remove the other one")
        return self


class Turn(Base):
    """The TURN server of the host, which relays media for viewers behind strict networks."""

    address: HostAddress | None = Field(
        None,
        description="Address that viewers reach it at; by default the edge's if there is one, else the public one.",
    )
    port: Integer = Field(3478, ge=1, le=65535, description="Port for TCP and UDP.")
    relay_ports: PortRangeField | None = Field(
        None, description='UDP ports for relayed media; "49160-49200" by default, which is 41 for the whole host.'
    )
    realm: Annotated[StrictStr, AfterValidator(_realm)] = Field(
        "pixel-streaming", description="Realm of its credentials."
    )
    user: Secret = Field(description="Where to find the user name for TURN.")
    password: Secret = Field(description="Where to find the password for TURN.")


class Ops(Base):
    """How remote operations are signed."""

    secret: Secret = Field(description="Where to find the secret that signs calls of /ops and /cluster.")
    required: Flag = Field(
        False, description="Whether calls without a signature are refused; the payments service sends none."
    )
    ttl: Annotated[WholeSeconds, AfterValidator(_ops_ttl)] | None = Field(
        None, description="How long a signature is valid, from 10 s to 24 h; 300 s by default."
    )


class Registration(Base):
    """How the host is registered with the payments service: one registration for all its slots."""

    id: Annotated[
        StrictStr,
        matching(_REGISTERED_ID, "this is not the id of an orchestrator", "write 1 to 64 letters, digits and . _ -"),
    ] = Field(description="Id of the host at the payments service; one address belongs to one id.")
    orchestrator: Name | None = Field(
        None, description="Orchestrator of this fleet whose account is paid; or use address instead."
    )
    address: Address | None = Field(None, description="Account that is paid; it must be in the active set.")
    capability: Annotated[StrictStr, AfterValidator(_capability)] | None = Field(
        None, description="Capability to register, at most 128 characters.", examples=["avatar-streaming"]
    )
    contact_email: Annotated[StrictStr, AfterValidator(_email)] | None = Field(
        None,
        description="Contact email address for the operators of the payments service.",
        examples=["operator@example.net"],
    )
    host_name: Annotated[StrictStr, AfterValidator(_host_name)] | None = Field(
        None, description="Host name to register; by default its name in this spec.", examples=["stage-1.eu-west"]
    )
    health_timeout: Annotated[Duration, AfterValidator(_health_timeout)] | None = Field(
        None, description="How long a health check of the host may take, from 0.1 s to 60 s."
    )
    min_service_uptime: Uptime | None = Field(
        None, description="Share of the time that monitored services must run.", examples=["95%"]
    )
    monitored_services: tuple[ServiceName, ...] | None = Field(
        None,
        description="Services that the registration names, at most 25; those of the stack by default.",
        examples=[["vtuber-mira"]],
    )

    @model_validator(mode="after")
    def _one_account(self) -> Registration:
        if (self.orchestrator is None) == (self.address is None):
            raise refuse(
                "a registration needs exactly one account",
                'write either orchestrator = "<name of an orchestrator of this fleet>" or address = "0x..."',
            )
        return self


class Images(Base):
    """Images that have no release tag. The checkout starts their latest version; here they are pinned by digest."""

    signaling: PinnedImage | None = Field(
        None,
        description="Image of the signaling servers, with its digest.",
        examples=["registry.example.net/avatar/signaling@sha256:" + "1" * 64],
    )
    game: PinnedImage | None = Field(
        None,
        description="Image of the games, with its digest; the host must be able to pull it from its registry.",
        examples=["registry.example.net/avatar/game@sha256:" + "2" * 64],
    )
    turn: PinnedImage | None = Field(None, description="Image of the TURN server, with its digest.")


class GameFiles(Base):
    """Settings files of the game, by their names in pixel-streaming/config of the checkout."""

    console_variables: GameFile | None = Field(
        None,
        description="File to use as the game's ConsoleVariables.ini; by default that of the checkout.",
        examples=["ConsoleVariables.lowload.30fps.720p.ini"],
    )
    engine: GameFile | None = Field(
        None,
        description="File to use as the game's Engine.ini; by default that of the checkout.",
        examples=["Engine.lowload.ini"],
    )
    game: GameFile | None = Field(
        None,
        description="File to use as the game's Game.ini; by default that of the checkout.",
        examples=["Game.lowload.ini"],
    )
    user_settings: GameFile | None = Field(
        None, description="File to use as the game's GameUserSettings.ini; by default that of the checkout."
    )
