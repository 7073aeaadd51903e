"""Reads what the stream API answered: a stream with all its fields, or an error.

In: the status and the text of an answer. Out: `StreamAnswer`. It checks a stream field by field against `resource.py`.
It notes additions to the API's description, and names the kind of other answers. No message repeats a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr, TypeAdapter, ValidationError

from fleetc.places.diagnostic import Path
from fleetc.stream_api import refused, scrub
from fleetc.stream_api.data import Binding
from fleetc.stream_api.resource import Seen, SeenErrors, SeenStream

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
class StreamAnswer:
    """What an answer is: `kind` is stream, missing, not_a_stream, invalid_response or unreachable.

    `stream` is the checked object of kind stream; `reasons` are why it is another kind, `notes` its oddities.
    """

    kind: str
    stream: dict[str, Any]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_body(body: bytes, status: int) -> StreamAnswer:
    """Recognise any answer by its bytes."""
    try:
        text = body.decode("utf-8", errors="strict" if status == 200 else "replace")
        if status == 200 and not text.strip():
            return StreamAnswer(INVALID, {}, ("it is empty",))
        if status == 200 and text.lstrip().startswith("<"):
            return StreamAnswer(INVALID, {}, ("it is a page for people, no JSON: is the address that of the API?",))
        return read(text, status)
    except UnicodeDecodeError as problem:
        return StreamAnswer(INVALID, {}, (f"it is not UTF-8, from byte {problem.start} on",))
    except NotJsonError as problem:
        place = f" at line {problem.line}, column {problem.column}" if problem.line else ""
        return StreamAnswer(INVALID, {}, (f"it is not JSON{place}: {problem}",))


def read(text: str, status: int | None = None) -> StreamAnswer:
    """Find out what an answer is. Without a status, the form distinguishes an error object from a stream.

    Raises NotJsonError where a stream is expected and the text is not JSON.
    """
    if status is not None and status != 200:
        kind = MISSING if status == 404 else UNREACHABLE
        return StreamAnswer(kind, {}, _reasons(text, status))
    raw = parse_json(text)
    if isinstance(raw, dict) and "errors" in raw and status is None:
        if "name" in raw:
            reason = "it has both a name and errors, so it may be a stream or an error: add its status"
            return StreamAnswer(INVALID, {}, (reason,))
        return StreamAnswer(UNREACHABLE, {}, _reasons(text, None))
    if isinstance(raw, dict) and "errors" in raw and "name" not in raw:
        return StreamAnswer(INVALID, {}, ("status 200, although it is an error", *_reasons(text, None)))
    if isinstance(raw, list):
        reason = "it is a list: the request had no id, and the service answered with all streams"
        return StreamAnswer(INVALID, {}, (reason,))
    if not isinstance(raw, dict):
        return StreamAnswer(INVALID, {}, ("it is not an object",))
    return _stream(raw)


def _stream(raw: dict[str, Any]) -> StreamAnswer:
    try:
        seen = SeenStream.model_validate(raw)
    except ValidationError as found:
        faults = found.errors(include_url=False, include_input=False, include_context=False)
        return StreamAnswer(INVALID, {}, tuple(dict.fromkeys(f"{dotted(f['loc'])}: {_sentence(f)}" for f in faults)))
    if raw.get("id") in ("", ".", ".."):
        return StreamAnswer(INVALID, {}, ("id: should be an id that works in a path",))
    notes = (*(f"{dotted(path)} is not described by the API" for path in _extras(seen, ())), *_oddities(raw))
    notes = (*notes, *dict.fromkeys(refused.notes(seen)))
    if raw.get("parentId"):
        reason = "it has a parentId: it is one session of a stream, not the stream"
        return StreamAnswer(NOT_A_STREAM, raw, (reason,), notes)
    return StreamAnswer(STREAM, raw, (), notes)


def _sentence(fault: Any) -> str:
    text = str(fault["msg"])
    return text[:1].lower() + text[1:]


def _reasons(text: str, status: int | None) -> tuple[str, ...]:
    """The messages of an error, without what may be a key. One about a credential is not repeated at all."""
    status_words = f"status {status}" if status is not None else "an error"
    if status == 401:
        return (f"{status_words}: the service refuses the credential",)
    if status is not None and 300 <= status < 400:
        return (f"{status_words}: it redirects, and the token goes nowhere else; correct the address of the API",)
    try:
        errors = SeenErrors.model_validate(parse_json(text)).errors
    except ValueError:  # pydantic's ValidationError is one as well
        return (f"{status_words}: unparseable error body",)
    return tuple(f"{status_words}: {scrub.message(error)}" for error in errors[:20])


def _extras(seen: Seen, path: Path) -> Iterator[Path]:
    """Every field that the API's description lacks."""
    yield from ((*path, key) for key in seen.model_extra or ())
    for key in seen.model_fields_set:
        value = getattr(seen, key, None)
        for index, item in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(item, Seen):
                yield from _extras(item, (*path, key) if index is None else (*path, key, index))


def _oddities(raw: dict[str, Any]) -> Iterator[str]:
    """What the service does although the description of the API rules it out."""
    if raw.get("pull") and raw.get("streamKey"):
        yield "the stream has both streamKey and pull, although a pulled stream has no streamKey"
    if "profiles" in raw and raw["profiles"] is None:
        yield "profiles is null, which is read as the default ladder"
    if (raw.get("recordingSpec") or {}).get("profiles", ()) is None:
        yield "recordingSpec.profiles is null, which is read as unset"
    for index, target in enumerate((raw.get("multistream") or {}).get("targets") or ()):
        if "spec" in target:
            yield f"multistream.targets.{index}.spec is in the answer, although addresses never are"


class _Bindings(BaseModel):
    """Which ids the service gave to targets that were sent by spec."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    profile: StrictStr
    kind: Literal["env", "vault", "command"]
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
        raise NotJsonError("it is nested more deeply than any stream") from None
    except ArithmeticError:
        raise NotJsonError("a number in it is out of range") from None
    except ValueError as problem:
        if isinstance(problem, NotJsonError):
            raise
        raise NotJsonError("a number in it is out of range") from None
    if _depth(value) > _DEEPEST:
        raise NotJsonError("it is nested more deeply than any stream")
    return value


def _decimal(text: str) -> Decimal:
    value = Decimal(text)
    if value and not -400 < value.adjusted() < 400:
        raise NotJsonError("a number in it is out of range")
    return value


def _constant(text: str) -> Any:
    raise NotJsonError(f"{text} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise NotJsonError("an object in it has the same key twice")
    return table


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        depth += 1
        inner = [v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)]
        level = [item for items in inner for item in items]
    return depth
