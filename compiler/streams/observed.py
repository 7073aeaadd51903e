"""Reads what the stream API answered: a stream with all its fields, or an error.

In: the status and the text of an answer. Out: `Answer`. A stream is checked field by field; what the API adds beyond
its description is noted and left alone, and what is not a stream is told by kind. No message repeats a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from pydantic.json_schema import WithJsonSchema

from compiler.diagnostics import Path
from compiler.model.fields import Parsed, refuse
from compiler.streams import scrub
from compiler.streams.data import Binding

STREAM, MISSING, NOT_A_STREAM = "stream", "missing", "not_a_stream"
INVALID, UNREACHABLE = "invalid_response", "unreachable"

_DEEPEST = 64


class NotJsonError(ValueError):
    """A text that is not JSON, or that no service would write; `line` and `column` count from 1, 0 is everywhere."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer is: `kind` is stream, missing, not_a_stream, invalid_response or unreachable.

    `stream` is the checked object of kind stream; `reasons` say why it is another kind, `notes` what is odd about it.
    """

    kind: str
    stream: dict[str, Any]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------------------------ the resource


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


Number = Annotated[Any, Parsed(_number), WithJsonSchema({"type": "number"})]
Whole = Annotated[StrictInt, BeforeValidator(_whole)]
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
Name = Annotated[StrictStr, Field(min_length=1, max_length=500)]
H264 = Literal["H264Baseline", "H264Main", "H264High", "H264ConstrainedHigh"]


def _may() -> Any:
    """A field that may be left out, and that is not null unless its type says so."""
    return Field(default=None)


class Seen(BaseModel):
    """A part of an answer: what the API describes is checked, what it adds is kept aside."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True, defer_build=True)


class SeenCreator(Seen):
    """Whom the stream belongs to."""

    type: Literal["unverified"]
    value: StrictStr


class SeenLocation(Seen):
    """Roughly where a source is, in degrees."""

    lat: Number
    lon: Number


class SeenPull(Seen):
    """Where a stream is fetched."""

    source: StrictStr
    headers: dict[str, StrictStr] = _may()
    isMobile: Mobile = _may()  # noqa: N815  # spelled as the stream API does, like all below
    location: SeenLocation = _may()


class SeenPolicy(Seen):
    """Who may play a stream."""

    type: Literal["public", "jwt", "webhook"]
    webhookId: StrictStr = _may()  # noqa: N815
    webhookContext: Free = _may()  # noqa: N815
    refreshInterval: Number = _may()  # noqa: N815
    allowedOrigins: list[StrictStr] = _may()  # noqa: N815


class SeenProfile(Seen):
    """One rendition of a stream."""

    width: Annotated[Whole, Field(ge=128)]
    name: Name
    height: Annotated[Whole, Field(ge=128)]
    bitrate: Annotated[Whole, Field(ge=400)]
    fps: Annotated[Whole, Field(ge=0)]
    fpsDen: Annotated[Whole, Field(ge=1)] = _may()  # noqa: N815
    quality: Annotated[Whole, Field(ge=0, le=44)] = _may()
    gop: StrictStr = _may()
    profile: H264 = _may()
    encoder: Literal["H.264"] = _may()


class SeenRecordingProfile(Seen):
    """One rendition of a recording."""

    bitrate: Annotated[Whole, Field(ge=400)]
    width: Annotated[Whole, Field(ge=128)] = _may()
    name: Name = _may()
    height: Annotated[Whole, Field(ge=128)] = _may()
    fps: Annotated[Whole, Field(ge=0)] = _may()
    fpsDen: Annotated[Whole, Field(ge=1)] = _may()  # noqa: N815
    quality: Annotated[Whole, Field(ge=0, le=44)] = _may()
    gop: StrictStr = _may()
    profile: H264 = _may()
    encoder: Literal["H.264", "HEVC", "VP8", "VP9"] = _may()


class SeenRecordingSpec(Seen):
    """What recordings are made into; a null that somebody sent once is kept by the service."""

    profiles: list[SeenRecordingProfile] | None = _may()


class SeenTarget(Seen):
    """Where a rendition is pushed to. An address is never answered."""

    profile: Name
    videoOnly: StrictBool = _may()  # noqa: N815
    id: StrictStr = _may()
    spec: Free = _may()


class SeenMultistream(Seen):
    """Where else a stream is pushed to."""

    targets: list[SeenTarget] = _may()


class SeenStream(Seen):
    """A stream as the API answers it. Counters and rates are numbers, times are milliseconds."""

    id: StrictStr = _may()
    name: StrictStr
    kind: StrictStr = _may()
    creatorId: SeenCreator = _may()  # noqa: N815
    userTags: dict[str, Tag] = _may()  # noqa: N815
    lastSeen: Number = _may()  # noqa: N815
    sourceSegments: Number = _may()  # noqa: N815
    transcodedSegments: Number = _may()  # noqa: N815
    sourceSegmentsDuration: Number = _may()  # noqa: N815
    transcodedSegmentsDuration: Number = _may()  # noqa: N815
    sourceBytes: Number = _may()  # noqa: N815
    transcodedBytes: Number = _may()  # noqa: N815
    ingestRate: Number = _may()  # noqa: N815
    outgoingRate: Number = _may()  # noqa: N815
    isActive: StrictBool = _may()  # noqa: N815
    isHealthy: StrictBool | None = _may()  # noqa: N815
    issues: list[StrictStr] | None = _may()
    createdByTokenName: StrictStr = _may()  # noqa: N815
    createdAt: Number = _may()  # noqa: N815
    parentId: StrictStr = _may()  # noqa: N815
    streamKey: StrictStr = _may()  # noqa: N815
    pull: SeenPull = _may()
    playbackId: StrictStr = _may()  # noqa: N815
    playbackPolicy: SeenPolicy | None = _may()  # noqa: N815
    profiles: list[SeenProfile] | None = _may()
    projectId: StrictStr = _may()  # noqa: N815
    record: StrictBool = _may()
    recordingSpec: SeenRecordingSpec = _may()  # noqa: N815
    multistream: SeenMultistream = _may()
    suspended: StrictBool = _may()
    lastTerminatedAt: Number | None = _may()  # noqa: N815
    userId: StrictStr = _may()  # noqa: N815
    renditions: Free = _may()


class SeenErrors(Seen):
    """Every answer but a stream: at least one message."""

    errors: Annotated[list[StrictStr], Field(min_length=1)]


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a stream as the API answers it; fields that it does not describe are allowed."""
    schema: dict[str, Any] = _without_defaults(SeenStream.model_json_schema())
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "stream of the stream API, as answered"
    return schema


def _without_defaults(value: Any) -> Any:
    """A schema without the default null of fields that are never null."""
    if isinstance(value, dict):
        return {key: _without_defaults(v) for key, v in value.items() if not (key == "default" and v is None)}
    return [_without_defaults(item) for item in value] if isinstance(value, list) else value


# --------------------------------------------------------------------------------------------------------- answers


def read(text: str, status: int | None = None) -> Answer:
    """Tell what an answer is. Without a status an error object is told from a stream by its form.

    Raises NotJsonError where a stream is expected and the text is not JSON.
    """
    if status is not None and status != 200:
        kind = MISSING if status == 404 else UNREACHABLE
        return Answer(kind, {}, _reasons(text, status))
    raw = parse_json(text)
    if isinstance(raw, dict) and "errors" in raw and status is None:
        if "name" in raw:
            reason = "it has both a name and errors, so that it may be a stream or an error: give its status"
            return Answer(INVALID, {}, (reason,))
        return Answer(UNREACHABLE, {}, _reasons(text, None))
    if isinstance(raw, list):
        return Answer(INVALID, {}, ("it is a list: the request had no id, and the service answered with all streams",))
    if not isinstance(raw, dict):
        return Answer(INVALID, {}, ("it is not an object",))
    return _stream(raw)


def _stream(raw: dict[str, Any]) -> Answer:
    try:
        seen = SeenStream.model_validate(raw)
    except ValidationError as found:
        faults = found.errors(include_url=False, include_input=False, include_context=False)
        return Answer(INVALID, {}, tuple(dict.fromkeys(f"{dotted(f['loc'])}: {_sentence(f)}" for f in faults)))
    if raw.get("id") in ("", ".", ".."):
        return Answer(INVALID, {}, ("id: should be an id that can stand in a path",))
    notes = (*(f"{dotted(path)} is not described by the API" for path in _extras(seen, ())), *_oddities(raw))
    if raw.get("parentId"):
        reason = "it has a parentId: it is one session of a stream, not the stream"
        return Answer(NOT_A_STREAM, raw, (reason,), notes)
    return Answer(STREAM, raw, (), notes)


def _sentence(fault: Any) -> str:
    text = str(fault["msg"])
    return text[:1].lower() + text[1:]


def _reasons(text: str, status: int | None) -> tuple[str, ...]:
    """The messages of an error, without what may be a key. One about a credential is not repeated at all."""
    said = f"status {status}" if status is not None else "an error"
    if status == 401:
        return (f"{said}: the service refuses the credential",)
    try:
        errors = SeenErrors.model_validate(parse_json(text)).errors
    except ValueError:  # pydantic's ValidationError is one as well
        return (f"{said}: unparseable error body",)
    return tuple(f"{said}: {scrub.message(error)}" for error in errors[:20])


def _extras(seen: Seen, path: Path) -> Iterator[Path]:
    """Every field that the API's description lacks."""
    yield from ((*path, key) for key in seen.model_extra or ())
    for key in seen.model_fields_set:
        value = getattr(seen, key, None)
        for index, item in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(item, Seen):
                yield from _extras(item, (*path, key) if index is None else (*path, key, index))


def _oddities(raw: dict[str, Any]) -> Iterator[str]:
    """What the description of the API rules out and its service does all the same."""
    if raw.get("pull") and raw.get("streamKey"):
        yield "streamKey stands beside pull, although a stream that is pulled has none"
    if "profiles" in raw and raw["profiles"] is None:
        yield "profiles is null, which is read as the default ladder"
    names = [profile["name"] for profile in raw.get("profiles") or ()]
    if len(set(names)) < len(names):
        yield "two profiles have one name"
    for index, target in enumerate((raw.get("multistream") or {}).get("targets") or ()):
        if "spec" in target:
            yield f"multistream.targets.{index}.spec is answered, although addresses never are"


class _Bindings(BaseModel):
    """Which ids the service gave to targets that were sent by spec."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    profile: StrictStr
    kind: Literal["env", "vault"]
    reference: StrictStr
    id: Annotated[StrictStr, Field(min_length=1)]


def read_bindings(text: str) -> tuple[Binding, ...]:
    """Read bindings from JSON, as `report.as_data` writes them. Raises NotJsonError, ValueError for any other form."""
    rows = TypeAdapter(list[_Bindings]).validate_python(parse_json(text))
    return tuple(Binding(row.profile, row.kind, row.reference, row.id) for row in rows)


def dotted(path: Path) -> str:
    """A place in an answer as text; keys that may hold anything are made safe to print."""
    return ".".join(scrub.value(str(part)) for part in path) or "the answer"


def parse_json(text: str) -> Any:
    """Read JSON strictly: numbers exactly, no key twice, no NaN, no depth beyond reason. Raises NotJsonError."""
    try:
        value = json.loads(text, parse_float=_decimal, parse_constant=_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as problem:
        raise NotJsonError(problem.msg[:1].lower() + problem.msg[1:], problem.lineno, problem.colno) from None
    except RecursionError:
        raise NotJsonError("it nests deeper than any stream does") from None
    except ArithmeticError:
        raise NotJsonError("a number in it is beyond all bounds") from None
    except ValueError as problem:
        if isinstance(problem, NotJsonError):
            raise
        raise NotJsonError("a number in it is beyond all bounds") from None
    if _depth(value) > _DEEPEST:
        raise NotJsonError("it nests deeper than any stream does")
    return value


def _decimal(text: str) -> Decimal:
    value = Decimal(text)
    if value and not -400 < value.adjusted() < 400:
        raise NotJsonError("a number in it is beyond all bounds")
    return value


def _constant(text: str) -> Any:
    raise NotJsonError(f"{text} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotJsonError("an object in it has one key twice")
    return found


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        depth += 1
        inner = [v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)]
        level = [item for items in inner for item in items]
    return depth
