"""The stream resource as the API answers it: every field with its type, bounds and meaning, and the shape of an error.

In: nothing. Out: `SeenStream` and `SeenErrors` for `observed.py`, and their JSON Schemas (`json_schema`,
`error_schema`). Types, words, bounds, required keys, units and marks are those of the API's description, version 1.0.0;
`readOnly`, `writeOnly`, `deprecated` and `default` are its words in a schema.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StrictBool,
    StrictInt,
    StrictStr,
)
from pydantic.json_schema import JsonSchemaValue, WithJsonSchema
from pydantic_core import CoreSchema

from fleetc.language.fields import Parsed, refuse
from fleetc.stream_api.normal import REFRESH
from fleetc.upstream.stream_api import API_VERSION, DEFAULT_PROFILES, TARGET_URL


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise refuse("should be a number")
    return value


def _whole(value: Any) -> Any:
    """A whole number, also as JavaScript may write it: 30.0."""
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    return value


def _tag(value: Any) -> Any:
    items = value if isinstance(value, list) else [value]
    for item in items:
        if not isinstance(item, str):
            _number(item)
    return value


def _is_mobile(value: Any) -> Any:
    value = _whole(value)
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1, 2)):
        return value
    raise refuse("should be true, false, 0, 1 or 2")


# Bounds stand before the reading of 30.0, or pydantic would not know that they are bounds of a number.
Pixels = Annotated[StrictInt, Field(ge=128), BeforeValidator(_whole)]
BitRate = Annotated[StrictInt, Field(ge=400), BeforeValidator(_whole)]
FrameRate = Annotated[StrictInt, Field(ge=0), BeforeValidator(_whole)]
Denominator = Annotated[StrictInt, Field(ge=1), BeforeValidator(_whole)]
Quality = Annotated[StrictInt, Field(ge=0, le=44), BeforeValidator(_whole)]
Number = Annotated[Any, Parsed(_number), WithJsonSchema({"type": "number"})]
_TEXT_OR_NUMBER: list[dict[str, Any]] = [{"type": "string"}, {"type": "number"}]
Tag = Annotated[
    Any,
    Parsed(_tag),
    WithJsonSchema({"anyOf": [*_TEXT_OR_NUMBER, {"type": "array", "items": {"anyOf": _TEXT_OR_NUMBER}}]}),
]
Mobile = Annotated[
    Any, Parsed(_is_mobile), WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "integer", "enum": [0, 1, 2]}]})
]
Free = dict[str, Any]
TargetSpec = Annotated[
    Free,
    WithJsonSchema(
        {
            "type": "object",
            "properties": {
                "url": {
                    "type": "string",
                    "pattern": TARGET_URL,
                    "description": "Address to push to: srt, rtmp or rtmps. It holds a stream key.",
                },
                "name": {"type": "string", "description": "Name of the new target."},
            },
            "required": ["url"],
            "additionalProperties": False,
        }
    ),
]
Name = Annotated[StrictStr, Field(min_length=1, max_length=500)]
H264 = Literal["H264Baseline", "H264Main", "H264High", "H264ConstrainedHigh"]


def _must(description: str) -> Any:
    """A field that every answer has."""
    return Field(description=description)


def _may(description: str, **marks: Any) -> Any:
    """An optional field, null only by its type; marks are in the schema only."""
    return Field(default=None, description=description, json_schema_extra=marks)


class _NeverNull:
    """Leaves null out of a schema: the service answers it, and its API does not describe it."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        (own,) = (part for part in handler(schema)["anyOf"] if part != {"type": "null"})
        return dict(own)


class Seen(BaseModel):
    """A part of an answer: what the API describes is checked, what it adds is kept aside."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True, defer_build=True)


class Closed(Seen):
    """A part without other properties, by the API's schema. Answers may have more: the service may be newer than its
    description."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})


class SeenCreator(Closed):
    """Whom the stream belongs to."""

    type: Literal["unverified"] = _must("How sure the service is of it; there is one kind.")
    value: StrictStr = _must("The user, as the developer's own records name him.")


class SeenLocation(Closed):
    """Roughly where the source of a pulled stream is; the closest region is chosen by it."""

    lat: Number = _must("Latitude in degrees; north is positive, south negative.")
    lon: Number = _must("Longitude in degrees; east is positive, west negative.")


class SeenPull(Closed):
    """Where the service pulls a stream from."""

    source: StrictStr = _must("URL that is fetched.")
    headers: dict[str, StrictStr] = _may("Headers of the request, by name.")
    isMobile: Mobile = _may(  # spelled as the stream API does, like all below
        "Mobile source: 0 is none, 1 a shared screen, 2 a camera; true is any mobile source.", default=0
    )
    location: SeenLocation = _may("Roughly where the source is.")


class SeenPolicy(Closed):
    """Who may play a stream."""

    type: Literal["public", "jwt", "webhook"] = _must(
        "public for everybody, jwt for holders of a signed token, webhook for those a webhook admits."
    )
    webhookId: StrictStr = _may("Id of the webhook that admits viewers.")
    webhookContext: Free = _may("Data for that webhook about the stream; any keys.")
    refreshInterval: Number = _may("Seconds after which viewers are checked again.", default=REFRESH)
    allowedOrigins: list[StrictStr] = _may(
        "Origins of web pages that may play it: <scheme>://<hostname> or <scheme>://<hostname>:<port>."
    )


_NAME = "Name of the rendition, 1 to 500 characters."
_WIDTH, _HEIGHT = "Width in pixels, 128 or more.", "Height in pixels, 128 or more."
_BITRATE = "Bits per second, 400 or more."
_FPS = "Frames per second; 0 keeps the source's rate."
_FPS_DEN = "Divisor of fps."
_QUALITY = "Constant quality from 0 to 44; a higher value is worse and smaller. A transcoder may ignore it."
_GOP = "Seconds between key frames as text, or intra for key frames only."


class SeenProfile(Closed):
    """One rendition of a stream."""

    width: Pixels = _must(_WIDTH)
    name: Name = _must(_NAME)
    height: Pixels = _must(_HEIGHT)
    bitrate: BitRate = _must(_BITRATE)
    fps: FrameRate = _must(_FPS)
    fpsDen: Denominator = _may(_FPS_DEN)
    quality: Quality = _may(_QUALITY)
    gop: StrictStr = _may(_GOP)
    profile: H264 = _may("H.264 profile of the rendition.")
    encoder: Literal["H.264"] = _may("Codec; live renditions support only this one.")


class SeenRecordingProfile(Closed):
    """One rendition of a recording."""

    bitrate: BitRate = _must(_BITRATE)
    width: Pixels = _may(_WIDTH)
    name: Name = _may(_NAME)
    height: Pixels = _may(_HEIGHT)
    fps: FrameRate = _may(_FPS)
    fpsDen: Denominator = _may(_FPS_DEN)
    quality: Quality = _may(_QUALITY)
    gop: StrictStr = _may(_GOP)
    profile: H264 = _may("H.264 profile of the rendition.")
    encoder: Literal["H.264", "HEVC", "VP8", "VP9"] = _may("Codec of the rendition.")


class SeenRecordingSpec(Closed):
    """Renditions of recordings; the service keeps a null that was once sent."""

    profiles: Annotated[list[SeenRecordingProfile] | None, _NeverNull()] = _may(
        "Renditions of the recording; by default derived from the source. The source is always kept."
    )


class SeenTarget(Closed):
    """Where a rendition is pushed to. The service never returns an address."""

    profile: Name = _must('Name of the rendition to push; "source" is the unchanged stream.')
    videoOnly: StrictBool = _may("Whether to leave out the sound.", default=False)
    id: StrictStr = _may("Id of the target.")
    spec: TargetSpec = _may("A new target that the service creates; it is sent but never returned.", writeOnly=True)


class SeenMultistream(Closed):
    """Where else to push a stream."""

    targets: list[SeenTarget] = _may("The targets, each with a rendition.")


class SeenStream(Closed):
    """A stream as the API returns it."""

    id: StrictStr = _may("Id of the stream, used to read, change and delete it.", readOnly=True)
    name: StrictStr = _must("Name of the stream; several streams can have the same name.")
    kind: StrictStr = _may("Kind of the object.", deprecated=True)
    creatorId: SeenCreator = _may("Whom of the developer's own users the stream belongs to.")
    userTags: dict[str, Tag] = _may("Tags by name: text, a number, or a list of texts and numbers.")
    lastSeen: Number = _may("Time when the service last saw it; the API gives no unit.")
    sourceSegments: Number = _may("Count of source segments.")
    transcodedSegments: Number = _may("Count of transcoded segments.")
    sourceSegmentsDuration: Number = _may("Seconds of all source segments in total.")
    transcodedSegmentsDuration: Number = _may("Seconds of all transcoded segments in total.")
    sourceBytes: Number = _may("Bytes of the source so far.")
    transcodedBytes: Number = _may("Bytes of all renditions so far.")
    ingestRate: Number = _may("Bytes per second: growth of sourceBytes.")
    outgoingRate: Number = _may("Bytes per second: growth of transcodedBytes.")
    isActive: StrictBool = _may("Whether the stream is being sent right now.")
    isHealthy: StrictBool | None = _may("Whether the stream is healthy right now; null while inactive.")
    issues: list[StrictStr] | None = _may("What is wrong with it, for people; null while it is healthy or inactive.")
    createdByTokenName: StrictStr = _may("Name of the API key that created the stream.", readOnly=True)
    createdAt: Number = _may("Time when it was created, in milliseconds.", readOnly=True)
    parentId: StrictStr = _may("Id of the stream that this is a session of.")
    streamKey: StrictStr = _may("Key in the RTMP address to send to; a secret. A stream with pull has none.")
    pull: SeenPull = _may("Where the service pulls the stream from; without it, you send the stream.")
    playbackId: StrictStr = _may("Id to request playback addresses with.")
    playbackPolicy: SeenPolicy | None = _may("Who may play it; without a policy, everybody.")
    profiles: Annotated[list[SeenProfile] | None, _NeverNull()] = _may(
        "Renditions; the source is always kept too.", default=[dict(row) for row in DEFAULT_PROFILES]
    )
    projectId: StrictStr = _may("Id of the project that it belongs to.")
    record: StrictBool = _may("Whether it is recorded, by recordingSpec or default settings.")
    recordingSpec: SeenRecordingSpec = _may("Renditions of recordings; only with record.")
    multistream: SeenMultistream = _may("Where else to push it.")
    suspended: StrictBool = _may("Whether it is turned off.")
    lastTerminatedAt: Number | None = _may("Time of its last termination, in milliseconds.")
    userId: StrictStr = _may("Id of its owner.", readOnly=True, deprecated=True)
    renditions: Free = _may("Renditions of the stream; the API does not describe them.")


class SeenErrors(Seen):
    """Every answer without a stream: at least one message."""

    errors: Annotated[list[StrictStr], Field(min_length=1)] = _must("What went wrong, in sentences for people.")


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of a stream as the API describes it; `observed.py` reads more, and notes it."""
    return _schema(SeenStream, "stream", "stream of the stream API, as returned")


@cache
def error_schema() -> dict[str, Any]:
    """The JSON Schema of what the API returns instead of a stream."""
    return _schema(SeenErrors, "error", "error of the stream API")


def _schema(model: type[Seen], name: str, title: str) -> dict[str, Any]:
    schema: dict[str, Any] = _without_defaults(model.model_json_schema())
    schema["$id"] = f"urn:fleetc:stream-api:{API_VERSION}:{name}"
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = title
    return schema


def _without_defaults(value: Any) -> Any:
    """A schema without the default null of fields that are never null."""
    if isinstance(value, dict):
        return {key: _without_defaults(v) for key, v in value.items() if not (key == "default" and v is None)}
    return [_without_defaults(item) for item in value] if isinstance(value, list) else value
