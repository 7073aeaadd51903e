"""The ids that the service gave to streams and targets, as people commit them in a file beside the spec.

In: the text of that file. Out: `Ids`, and its text in canonical form: sorted, one line for each id. It has no secret: a
target has the name of its reference. Ids belong to the address of an API, so that a stream that another environment has
is never taken for this one's.

The id null is a sent stream or target with a lost answer: it may exist. An address without streams is how a person says
that it is another service than those beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from fleetc.emit.artifacts import json_document
from fleetc.language.fields import refuse
from fleetc.stream_api.data import Binding
from fleetc.stream_api.observed import NotJsonError, dotted, parse_json

VERSION = 1
_ID = re.compile("[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,127}")


class Known(NamedTuple):
    """The ids of a stream and of its targets. Without an id it may exist; `why`, if no answer was lost."""

    id: str | None
    targets: tuple[Binding, ...] = ()
    why: str = ""


Ids = Mapping[str, Mapping[str, Known]]
"""What is known of streams, by the address of their API and their name in the spec."""


class IdsError(ValueError):
    """The text is not such a file: `place` is where, the message is the error."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(message)
        self.place = place


def usable_id(text: str) -> bool:
    """Whether a text can be the id of a stream or a target: it goes into paths and into the file."""
    return _ID.fullmatch(text) is not None


def _checked(text: str) -> str:
    if not usable_id(text):
        raise refuse("should be an id: letters, digits and - . _ ~")
    return text


_Id = Annotated[StrictStr, AfterValidator(_checked)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class _Target(_Closed):
    profile: StrictStr
    kind: Literal["env", "vault", "command"]
    reference: StrictStr
    id: _Id | None


def _apart(rows: Any) -> Any:
    held = [row.id for row in (rows.values() if isinstance(rows, dict) else rows) if row.id is not None]
    if len(set(held)) < len(held):
        raise refuse("two of these have the same id")
    return rows


class _Stream(_Closed):
    id: _Id | None
    targets: Annotated[list[_Target], AfterValidator(_apart)] = Field(default_factory=list)


class _File(_Closed):
    version: StrictInt
    streams: dict[StrictStr, Annotated[dict[StrictStr, _Stream], AfterValidator(_apart)]]


def read_ids(text: str) -> Ids:
    """Read the file. Raises IdsError."""
    try:
        raw = parse_json(text)
        if isinstance(raw, dict) and raw.get("version", VERSION) != VERSION:
            raise IdsError("version", "another version of fleetc wrote this file")
        file = _File.model_validate(raw)
    except NotJsonError as problem:
        place = f"line {problem.line}, column {problem.column}" if problem.line else ""
        raise IdsError(place, f"this is not JSON: {problem}") from None
    except ValidationError as problem:
        fault = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        words = str(fault["msg"])
        raise IdsError(dotted(fault["loc"]), words[:1].lower() + words[1:]) from None
    return {
        url: {name: Known(stream.id, tuple(map(_binding, stream.targets))) for name, stream in streams.items()}
        for url, streams in file.streams.items()
    }


def known_at(ids: Ids, url: str, names: Collection[str]) -> Mapping[str, Known]:
    """What is known of streams at an address. Where the file lacks it, but has ids of the spec, all may be there."""
    others = [other for other, streams in sorted(ids.items()) if streams.keys() & set(names)]
    if url in ids or not others:
        return ids.get(url, {})
    why = (
        f"the file with the ids has this spec's under {others[0]}, and none under {url}: if that is the same service, "
    )
    why += (
        f'write its new address there; if it is another, add "{url}": {{}} beside it, so that --apply creates streams'
    )
    return {name: Known(None, why=why) for name in names}


def _binding(row: _Target) -> Binding:
    return Binding(row.profile, row.kind, row.reference, row.id or "")


def ids_text(ids: Ids) -> str:
    """The text of the file."""
    streams = {
        url: {name: _as_data(known) for name, known in sorted(streams.items())} for url, streams in sorted(ids.items())
    }
    return json_document({"version": VERSION, "streams": streams})


def _as_data(known: Known) -> dict[str, object]:
    targets = [{**binding._asdict(), "id": binding.id or None} for binding in sorted(known.targets)]
    return {"id": known.id, **({"targets": targets} if targets else {})}


def with_bindings(before: Iterable[Binding], new: Iterable[Binding]) -> tuple[Binding, ...]:
    """Bindings after some were found: one with an id replaces one without."""
    rows = {(row.profile, row.kind, row.reference): row for row in before}
    rows |= {(row.profile, row.kind, row.reference): row for row in new}
    return tuple(sorted(rows.values()))
