"""What a user may write about streams: the resource of the stream API, and the gateway and ladder of this fleet.

In: raw `streams` tables. Out: frozen `Stream` values. Keys are spelled as the API spells them; `gateway` and `ladder`
are ours. Types, words, bounds and required keys are those of the API; checks of several fields are in `rules/`. A value
that would be a secret is a reference, and the request has a placeholder for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, StrictStr
from pydantic.json_schema import JsonSchemaValue, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from fleetc.language import quantities as q
from fleetc.language.fields import Base, Flag, Integer, Name, Parsed, refuse
from fleetc.language.rendition import H264, Bitrate, FrameRate, ProfileName
from fleetc.language.secret_fields import SECRET_SCHEMA, SecretRef, parse_secret
from fleetc.language.units import UNIT, Pixels
from fleetc.upstream.stream_api import SERVER_OWNED

_EXACT = 2**53
_ORIGIN = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(\[[^\]]*\]|[^/?#@:\[\]]+)(?::([0-9]+))?")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://[^/?#]")
STREAM_REFERENCE_FORM = 'write a reference: { env = "NAME" }, { vault = "key" } or { command = "name" }'
_STREAM_KEYS = ("env", "vault", "command")

PLACEHOLDER = "$secret"
"""The only key of the table that marks a secret in a request; no text of the API has that form."""


def _number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _exact(value: Any, what: str) -> Any:
    """A number that the service, which keeps all numbers as doubles, gives back as it was."""
    if abs(value) > _EXACT:
        raise refuse(
            f"{what} is too large for the service, which keeps numbers exact only up to 2^53", "write it as text"
        )
    if value and not float(value):
        raise refuse(f"{what} is so close to zero that the service, which uses doubles, reads 0", "write 0")
    return value


def _no_placeholder(key: str) -> str:
    """A key of a table that goes into the request unchanged; one key is reserved."""
    if key == PLACEHOLDER:
        raise refuse(f"the key {PLACEHOLDER} is reserved: it marks a secret in a request", "rename the key")
    return key


def _tag(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if _number(value):
        return _exact(value, "this tag")
    if isinstance(value, list) and all(isinstance(item, str) or _number(item) for item in value):
        return tuple(item if isinstance(item, str) else _exact(item, "this tag") for item in value)
    raise refuse(
        "a user tag must be text, a number, or a list of both",
        'write it in quotes, such as "true", or as a list, such as ["news", 2026]',
    )


def _context(value: Any) -> Any:
    """Any value that JSON has, with tuples for lists."""
    if isinstance(value, dict):
        return {_no_placeholder(key): _context(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(map(_context, value))
    return _exact(value, "this number") if _number(value) else value


def _context_table(value: Any) -> Any:
    if not isinstance(value, dict):
        raise refuse("webhookContext must be a table", "write a table for the webhook")
    return _context(value)


def _degrees(limit: int, what: str, key: str, positive: str) -> Callable[[Any], int | Decimal]:
    def parse(value: Any) -> int | Decimal:
        if not _number(value):
            raise refuse(f"a {what} must be a number of degrees", f"write {key} = 52.5, without quotes")
        if abs(value) > limit:
            raise refuse(
                f"a {what} must be from -{limit} to {limit} degrees", f"{positive} is positive: write {key} = 52.5"
            )
        number: int | Decimal = _exact(value, f"this {what}")
        return number

    return parse


def _is_mobile(value: Any) -> bool | int:
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1, 2)):
        return value
    raise refuse(
        "isMobile must be true, false, 0, 1 or 2", "write 0 for no mobile source, 1 for a shared screen, 2 for a camera"
    )


def _interval(value: Any) -> int | Decimal:
    if not _number(value):
        raise refuse("refreshInterval must be a number of seconds", "write refreshInterval = 600, without quotes")
    number: int | Decimal = _exact(value, "this interval")
    return number


def _origin(value: Any) -> str:
    form = 'write scheme and host, such as "https://player.example.net" or "https://player.example.net:8443"'
    if not isinstance(value, str):
        raise refuse("an origin must be text", form)
    found = _ORIGIN.fullmatch(value)
    if found is None:
        bare = _ORIGIN.match(value)
        if "*" in value:
            raise refuse("an origin cannot have a wildcard", f"{form}; list each origin that plays the stream")
        if bare and value[bare.end() :] == "/":
            raise refuse("an origin cannot end with a slash", f'write "{bare[0]}"', repair=bare[0])
        if "@" in value:
            raise refuse("an origin cannot have a user name or password", form, secret=True)
        if bare and value[bare.end()] in "/?#":
            raise refuse("an origin cannot have a path, query or fragment", f'write "{bare[0]}"')
        raise refuse("this is not an origin", form)
    host, port = found[2], found[3]
    if port is not None and not (re.fullmatch("[1-9][0-9]{0,4}", port) and int(port) <= 65535):
        raise refuse("the port of an origin must be a number from 1 to 65535", form)
    try:
        q.parse_host(host[1:-1] if host.startswith("[") else host)
    except q.QuantityError as problem:
        raise refuse(problem.message, problem.help) from None
    return value


def _stream_secret(value: Any) -> SecretRef:
    """A reference that the machine which talks to the service can follow."""
    if not isinstance(value, dict):
        raise refuse("secrets do not belong in the spec", STREAM_REFERENCE_FORM, secret=True)
    if set(value) == {"host_file"}:
        raise refuse(
            "a stream has no host, so its secret cannot be in a file on a host", STREAM_REFERENCE_FORM, secret=True
        )
    if len(value) != 1 or not value.keys() <= set(_STREAM_KEYS):
        raise refuse(
            "a secret of a stream needs exactly one of the keys env, vault and command",
            STREAM_REFERENCE_FORM,
            secret=True,
        )
    return parse_secret(value)


def _source(value: Any) -> q.Url | SecretRef:
    if not isinstance(value, str):
        return _stream_secret(value)
    scheme = _SCHEME.match(value)
    if scheme is None:
        raise refuse("this is not a complete URL", 'write it like "https://studio.example.net/live/index.m3u8"')
    try:
        return q.parse_url(value, (scheme[1],))
    except q.QuantityError as problem:
        held = "@" in value
        raise refuse(problem.message, STREAM_REFERENCE_FORM if held else problem.help, secret=held) from None


def _header(name: str) -> str:
    if not _HEADER.fullmatch(name):
        raise refuse("this is not a header name", "use letters, digits and -, such as Authorization")
    return _no_placeholder(name)


def _headers(found: dict[str, SecretRef]) -> dict[str, SecretRef]:
    """Headers by name; HTTP ignores case in names."""
    known: set[str] = set()
    for name in found:
        if name.lower() in known:
            raise refuse(
                f"the header {name} is here twice: header names ignore case",
                "keep one of them; a request has only one value per header",
            )
        known.add(name.lower())
    return found


def _creator(value: Any) -> Any:
    return {"type": "unverified", "value": value} if isinstance(value, str) else value


class _TextForTable:
    """Accepts plain text instead of a table: `make` turns it into one, and the schema shows both."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._make, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "string"}]}


_STREAM_SECRET_SCHEMA: dict[str, Any] = {
    **SECRET_SCHEMA,
    "properties": {name: SECRET_SCHEMA["properties"][name] for name in _STREAM_KEYS},
}
StreamSecret = Annotated[SecretRef, Parsed(_stream_secret), WithJsonSchema(_STREAM_SECRET_SCHEMA)]
Tag = Annotated[
    Any,
    Parsed(_tag),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "number"},
                {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
            ]
        }
    ),
]
Context = Annotated[Any, Parsed(_context_table), WithJsonSchema({"type": "object", "additionalProperties": True})]


class CreatorId(Base):
    """Which of the developer's own users the stream belongs to."""

    type: Literal["unverified"] = Field(description="How sure the service is of the user; there is only one kind.")
    value: StrictStr = Field(description="The user, as named in the developer's own records.")


class Location(Base):
    """Roughly where the source of a pulled stream is; the service uses the closest region."""

    lat: Annotated[
        int | Decimal,
        Parsed(_degrees(90, "latitude", "lat", "north")),
        WithJsonSchema({"type": "number", "minimum": -90, "maximum": 90, UNIT: "degrees"}),
    ] = Field(description="Degrees north of the equator; south is negative.")
    lon: Annotated[
        int | Decimal,
        Parsed(_degrees(180, "longitude", "lon", "east")),
        WithJsonSchema({"type": "number", "minimum": -180, "maximum": 180, UNIT: "degrees"}),
    ] = Field(description="Degrees east of Greenwich; west is negative.")


class Pull(Base):
    """Where the service pulls a stream from. Each source needs its own stream."""

    source: Annotated[
        q.Url | SecretRef,
        Parsed(_source),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "string", "examples": ["https://studio.example.net/live/index.m3u8"]},
                    _STREAM_SECRET_SCHEMA,
                ]
            }
        ),
    ] = Field(description="URL to fetch; a secret reference if it contains credentials.")
    headers: (
        Annotated[
            dict[Annotated[StrictStr, BeforeValidator(_header)], StreamSecret],
            AfterValidator(_headers),
        ]
        | None
    ) = Field(
        None,
        description="Headers of the request, by name; each value is a secret reference.",
        examples=[{"Authorization": {"env": "CAMERA_AUTHORIZATION"}}],
    )
    isMobile: (  # spelled as the stream API does, like all below
        Annotated[
            bool | int,
            Parsed(_is_mobile),
            WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "integer", "enum": [0, 1, 2]}]}),
        ]
        | None
    ) = Field(None, description="Mobile source: 0 is none, 1 a shared screen, 2 a camera; true is any mobile source.")
    location: Location | None = Field(None, description="Roughly where the source is.")


class PlaybackPolicy(Base):
    """Who may play the stream."""

    type: Literal["public", "jwt", "webhook"] = Field(
        description="public for everybody, jwt for holders of a signed token, webhook for those a webhook admits."
    )
    webhookId: StrictStr | None = Field(
        None,
        description="Webhook that admits viewers; required for type webhook.",
        examples=["3e02c844-d364-4d48-b401-24b2773b5d6c"],
    )
    webhookContext: Context | None = Field(
        None, description="Data for that webhook about the stream.", examples=[{"room": "main"}]
    )
    refreshInterval: (
        Annotated[int | Decimal, Parsed(_interval), WithJsonSchema({"type": "number", "examples": [600], UNIT: "s"})]
        | None
    ) = Field(None, description="Seconds after which viewers are checked again; 600 by default.")
    allowedOrigins: (
        tuple[
            Annotated[
                str, Parsed(_origin), WithJsonSchema({"type": "string", "examples": ["https://player.example.net"]})
            ],
            ...,
        ]
        | None
    ) = Field(None, description="Origins of web pages that may play it: scheme, host and, if needed, port.")


class Profile(Base):
    """One rendition that the service makes of a stream."""

    name: ProfileName = Field(description="Name of the rendition, 1 to 500 characters; targets refer to it.")
    width: Pixels = Field(ge=128, description="Width in pixels, 128 or more.")
    height: Pixels = Field(ge=128, description="Height in pixels, 128 or more.")
    bitrate: Bitrate = Field(ge=400, description="Bits per second as a whole number, such as 3000000.")
    fps: FrameRate = Field(description="Frames per second as a whole number; 0 keeps the source's rate.")
    fpsDen: Integer | None = Field(None, ge=1, description="Divisor of fps, for rates such as 30000/1001.")
    quality: Integer | None = Field(
        None, ge=0, le=44, description="Constant quality from 0 to 44; a higher value is worse and smaller."
    )
    gop: StrictStr | None = Field(
        None, description='Seconds between key frames as text, such as "2", or "intra" for key frames only.'
    )
    profile: H264 | None = Field(None, description="H.264 profile of the rendition.")
    encoder: Literal["H.264"] | None = Field(None, description="Codec; live renditions support only this one.")


class RecordingProfile(Base):
    """One rendition of a recording."""

    name: ProfileName | None = Field(None, description="Name of the rendition, 1 to 500 characters.")
    width: Pixels | None = Field(None, ge=128, description="Width in pixels, 128 or more.")
    height: Pixels | None = Field(None, ge=128, description="Height in pixels, 128 or more.")
    bitrate: Bitrate = Field(ge=400, description="Bits per second as a whole number, such as 3000000.")
    fps: FrameRate | None = Field(
        None, description="Frames per second; 0 keeps the source's rate. 29.97 is fps 30000, fpsDen 1001."
    )
    fpsDen: Integer | None = Field(None, ge=1, description="Divisor of fps, for rates such as 30000/1001.")
    quality: Integer | None = Field(
        None, ge=0, le=44, description="Constant quality from 0 to 44; a higher value is worse and smaller."
    )
    gop: StrictStr | None = Field(
        None, description='Seconds between key frames as text, such as "2", or "intra" for key frames only.'
    )
    profile: H264 | None = Field(None, description="H.264 profile of the rendition.")
    encoder: Literal["H.264", "HEVC", "VP8", "VP9"] | None = Field(None, description="Codec of the rendition.")


class RecordingSpec(Base):
    """Renditions of a recording; needs record = true in the stream."""

    profiles: tuple[RecordingProfile, ...] | None = Field(
        None, description="Renditions of the recording; by default derived from the source. The source is always kept."
    )


class TargetSpec(Base):
    """A destination that the service does not know yet; the service creates a target for it."""

    url: StreamSecret = Field(
        description="Address to push to, srt, rtmp or rtmps; a secret reference, because it contains a stream key."
    )
    name: StrictStr | None = Field(None, description="Name of the new target.")


class Target(Base):
    """A destination that one rendition is pushed to: an existing one by `id`, or a new one by `spec`."""

    profile: ProfileName = Field(description='Name of the rendition to push; "source" is the unchanged stream.')
    videoOnly: Flag | None = Field(None, description="Whether to leave out the sound; false by default.")
    id: StrictStr | None = Field(
        None,
        min_length=1,
        description="Id of an existing target in the service.",
        examples=["9a1b2c3d-0000-4000-8000-000000000001"],
    )
    spec: TargetSpec | None = Field(
        None, description="A new target; it is sent once, and identified by its id from then on."
    )


class Multistream(Base):
    """Where else to push the stream."""

    targets: tuple[Target, ...] | None = Field(None, description="The targets, each with a rendition.")


class Stream(Base):
    """The desired state of one stream of the stream API; keys are spelled as in the API."""

    assigned: ClassVar[dict[str, str]] = SERVER_OWNED
    """Keys of the resource that only the service writes, and what to do about one; `problems.py` asks here."""

    name: StrictStr | None = Field(
        None, description="Name of the stream; by default the name of its table.", examples=["Main stage"]
    )
    gateway: Name | None = Field(None, description="Gateway of this fleet that the stream is sent to.")
    ladder: Name | None = Field(None, description="Ladder of this spec, instead of profiles.")
    creatorId: Annotated[CreatorId, _TextForTable(_creator)] | None = Field(
        None, description="Whom the stream belongs to; plain text is the value of an unverified creator."
    )
    userTags: dict[Annotated[StrictStr, BeforeValidator(_no_placeholder)], Tag] | None = Field(
        None, description="Tags by name: text, a number, or a list of texts and numbers."
    )
    pull: Pull | None = Field(
        None, description="Where the service pulls the stream from; without it, you send the stream."
    )
    playbackPolicy: PlaybackPolicy | None = Field(None, description="Who may play it; everybody by default.")
    profiles: tuple[Profile, ...] | None = Field(
        None, description="Renditions; by default the service's own ladder; [] means only the source."
    )
    record: Flag | None = Field(None, description="Whether the stream is recorded; false by default.")
    recordingSpec: RecordingSpec | None = Field(None, description="Renditions of recordings; needs record = true.")
    multistream: Multistream | None = Field(None, description="Where else to push the stream.")
    suspended: Flag | None = Field(
        None, description="Whether the stream is turned off; the service accepts it only for an existing stream."
    )
