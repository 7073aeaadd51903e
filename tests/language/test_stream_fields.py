"""Every field of the stream resource: what it takes, its bounds, one step outside of each, and values of other types.

The table is stream_fields.py. A declaration goes through the model, an answer through the reader of answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, get_args

import pytest
import tomli_w
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from fleetc.language.spec import read_fleet
from fleetc.language.stream import Stream
from fleetc.places.diagnostic import Diagnostic, Path
from fleetc.stream_api.observed import INVALID, read
from fleetc.stream_api.resource import SeenStream, error_schema, json_schema
from fleetc.toml.document import Source, read_document
from fleetc.upstream.stream_api import API_VERSION, DEFAULT_PROFILES, SERVER_OWNED
from tests.language import stream_fields
from tests.language.stream_fields import ANSWERED, DECLARED, REQUIRED, RESOURCE, ROWS, Row
from tests.rules.support import offchain
from tests.support import for_each


def _path(dotted: str) -> Path:
    return tuple(int(part) if part.isdigit() else part for part in dotted.split(".")) if dotted else ()


def _with(document: dict[str, Any], dotted: str, value: Any) -> dict[str, Any]:
    """A copy with one value at a path; tables on the way are made."""
    copy = deepcopy(document)
    *heads, last = _path(dotted)
    table: Any = copy
    for part in heads:
        table = table[part] if isinstance(part, int) else table.setdefault(part, {})
    table[last] = value
    return copy


def _without(document: dict[str, Any], dotted: str) -> dict[str, Any]:
    copy = deepcopy(document)
    *heads, last = _path(dotted)
    table: Any = copy
    for part in heads:
        table = table[part]
    table.pop(last, None)
    return copy


def _declared(stream: dict[str, Any]) -> list[Diagnostic]:
    """What the language says about a declared stream."""
    text = offchain() + tomli_w.dumps({"streams": {"main": stream}})
    document, found = read_document([Source("fleet.toml", text)])
    if document is not None:
        _, found = read_fleet(document)
    return found


def _answered(stream: dict[str, Any]) -> str:
    """The kind of an answer, and its reasons."""
    answer = read(json.dumps(stream))
    return "" if answer.kind != INVALID else "; ".join(answer.reasons)


def _values(side: str) -> list[Any]:
    return list(_parameters(side))


def _parameters(side: str) -> Iterator[Any]:
    for row in ROWS:
        declared = row.declared if row.declared is not None else row.good
        undeclared = row.undeclared if row.undeclared is not None else row.bad
        for value in {"good": row.good, "bad": row.bad, "declared": declared, "undeclared": undeclared}[side]:
            if value is not None or side in ("good", "bad"):
                yield row, value


def test_table_has_every_field_of_the_resource_once() -> None:
    listed = [f"{table}.{name}".lstrip(".") for table, names in RESOURCE.items() for name in names]
    rows = [row.path for row in ROWS]
    assert sorted(rows) == sorted([*listed, "userTags.tag"])
    assert len(RESOURCE[""]) == 33


def test_every_row_has_values_on_both_sides() -> None:
    for row in ROWS:
        assert row.declared or row.good, row.path
        assert row.undeclared or row.bad, row.path


def _models(root: type[BaseModel], below: str = "") -> Iterator[tuple[str, set[str]]]:
    yield below, set(root.model_fields)
    for name, field in root.model_fields.items():
        stack: list[Any] = [field.annotation]
        many = False
        while stack:
            annotation = stack.pop()
            many = many or annotation in (tuple, list) or getattr(annotation, "__origin__", None) in (tuple, list)
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                if annotation.__name__ != "SecretRef":
                    yield from _models(annotation, f"{below}.{name}{'.0' if many else ''}".lstrip("."))
            else:
                stack += get_args(annotation)


def test_models_have_the_fields_of_the_resource_and_no_others() -> None:
    seen = dict(_models(SeenStream))
    assert seen == {table: set(names) for table, names in RESOURCE.items() if table != "multistream.targets.0.spec"}
    declared = dict(_models(Stream))
    ours = {"gateway", "ladder"}
    assert declared.pop("") == set(RESOURCE[""]) - set(SERVER_OWNED) | ours
    assert declared == {table: set(names) for table, names in RESOURCE.items() if table}
    assert set(SERVER_OWNED) == set(stream_fields.SERVER_OWNED)


@for_each(("row", "value"), _values("good"))
def test_answer_with_a_good_value_is_a_stream(row: Row, value: Any) -> None:
    assert _answered(_with(ANSWERED, row.path, value)) == ""


@for_each(("row", "value"), _values("bad"))
def test_answer_with_a_bad_value_is_invalid_there(row: Row, value: Any) -> None:
    assert _answered(_with(ANSWERED, row.path, value)).startswith(row.path)


@for_each(("row", "value"), _values("declared"))
def test_declaration_with_a_good_value(row: Row, value: Any) -> None:
    found = _declared(_with(DECLARED, row.path, value))
    if row.path in SERVER_OWNED:
        (only,) = found
        assert (only.code, only.primary.place) == ("assigned-by-service", ("streams", "main", row.path))
        assert only.help == SERVER_OWNED[row.path]
    else:
        assert found == []


@for_each(("row", "value"), _values("undeclared"))
def test_declaration_with_a_bad_value_is_refused_there(row: Row, value: Any) -> None:
    found = _declared(_with(DECLARED, row.path, value))
    path = ("streams", "main", *_path(row.path))
    assert found
    assert all(isinstance(d.primary.place, tuple) and d.primary.place[: len(path)] == path for d in found)
    assert all(d.message and d.help for d in found)


@pytest.mark.parametrize("table", REQUIRED)
def test_required_fields(table: str) -> None:
    for name in REQUIRED[table]:
        path = f"{table}.{name}".lstrip(".")
        if table != "multistream.targets.0.spec":  # never answered
            assert _answered(_without(ANSWERED, path)).startswith(path)
        codes = {d.code for d in _declared(_without(DECLARED, path))}
        assert codes == (set() if path == "name" else {"missing-key"})


@pytest.mark.parametrize("table", [table for table in RESOURCE if table not in REQUIRED.get(table, ())])
def test_other_fields_may_be_left_out(table: str) -> None:
    for name in set(RESOURCE[table]) - set(REQUIRED.get(table, ())):
        path = f"{table}.{name}".lstrip(".")
        if table != "multistream.targets.0.spec":
            assert _answered(_without(ANSWERED, path)) == ""
        assert _declared(_without(DECLARED, path)) == []


@pytest.mark.parametrize("table", RESOURCE)
def test_objects_are_closed_to_declarations_and_noted_in_answers(table: str) -> None:
    path = f"{table}.surplus".lstrip(".")
    found = _declared(_with(DECLARED, path, "x"))
    assert [(d.code, d.primary.place) for d in found] == [("unknown-key", ("streams", "main", *_path(path)))]
    if table != "multistream.targets.0.spec":
        answer = read(json.dumps(_with(ANSWERED, path, "x")))
        assert answer.kind != INVALID
        assert f"{path} is not described by the API" in answer.notes


@pytest.mark.parametrize("path", ["userTags.any", "pull.headers.X-Any", "playbackPolicy.webhookContext.any"])
def test_three_tables_are_open(path: str) -> None:
    assert _declared(_with(DECLARED, path, {"env": "A"} if "headers" in path else "x")) == []
    answer = read(json.dumps(_with(ANSWERED, path, "x")))
    assert answer.notes == ()


def test_true_is_no_one() -> None:
    """In Python True == 1, in JSON and TOML it is not."""
    for path in ("profiles.0.fpsDen", "profiles.0.quality", "pull.location.lat", "userTags.tag"):
        assert _declared(_with(DECLARED, path, 1)) == []
        assert _declared(_with(DECLARED, path, True)) != []
        assert _answered(_with(ANSWERED, path, 1)) == ""
        assert _answered(_with(ANSWERED, path, True)) != ""


def _schema_fields(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every described field of a schema by its place, as "Target.spec"; those of the stream itself by name."""
    tables = {"": schema, **{f"{name.removeprefix('Seen')}.": table for name, table in schema["$defs"].items()}}
    found = {f"{table}{name}": node for table, inner in tables.items() for name, node in inner["properties"].items()}
    return found | {f"Target.spec.{n}": node for n, node in found["Target.spec"]["properties"].items()}


def test_schema_of_an_answer_tells_what_the_api_describes() -> None:
    fields = _schema_fields(json_schema())
    assert [place for place, node in fields.items() if not node.get("description")] == []

    def marked(mark: str) -> dict[str, Any]:
        return {place: node[mark] for place, node in fields.items() if mark in node}

    assert marked("readOnly") == dict.fromkeys(("id", "createdByTokenName", "createdAt", "userId"), True)
    assert marked("deprecated") == {"kind": True, "userId": True}
    assert marked("writeOnly") == {"Target.spec": True}
    assert marked("default") == {
        "Pull.isMobile": 0,
        "Policy.refreshInterval": 600,
        "Target.videoOnly": False,
        "profiles": [dict(row) for row in DEFAULT_PROFILES],
    }
    assert fields["Target.spec"]["required"] == ["url"]
    assert (fields["Target.spec.url"]["type"], fields["Target.spec.name"]["type"]) == ("string", "string")


@pytest.mark.parametrize(
    ("unit", "fields"),
    [
        ("milliseconds", ("createdAt", "lastTerminatedAt")),
        ("Seconds", ("sourceSegmentsDuration", "transcodedSegmentsDuration", "Policy.refreshInterval")),
        ("Bytes per second", ("ingestRate", "outgoingRate")),
        ("Count", ("sourceSegments", "transcodedSegments")),
        ("degrees", ("Location.lat", "Location.lon")),
    ],
)
def test_schema_of_an_answer_names_units(unit: str, fields: tuple[str, ...]) -> None:
    known = _schema_fields(json_schema())
    assert all(unit in known[field]["description"] for field in fields)


def test_schema_of_an_answer_has_keywords_of_json_schema_only() -> None:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    assert not {"ge", "le", "gt", "lt"} & {key for node in _schema_fields(schema).values() for key in node}


@for_each(("row", "value"), [*_values("good"), *_values("bad")])
def test_schema_of_an_answer_judges_as_the_reader_does(row: Row, value: Any) -> None:
    if row.path in ("id", "multistream.targets.0.spec"):  # paths of ids, and a table that is never answered
        return
    if row.path in ("profiles", "recordingSpec.profiles") and value is None:
        return  # what the service keeps from requests of before, and its API does not describe
    answer = _with(ANSWERED, row.path, value)
    found = [tuple(fault.absolute_path) for fault in Draft202012Validator(json_schema()).iter_errors(answer)]
    assert bool(found) == bool(_answered(answer)), found


@pytest.mark.parametrize("table", [table for table in RESOURCE if table != "multistream.targets.0.spec"])
def test_schema_of_an_answer_closes_every_table(table: str) -> None:
    answer = _with(ANSWERED, f"{table}.more".lstrip("."), 1)
    assert not Draft202012Validator(json_schema()).is_valid(answer)
    assert _answered(answer) == ""  # a service may be newer than its description


def test_schema_of_an_answer_knows_no_null_profiles() -> None:
    for path in ("profiles", "recordingSpec.profiles"):
        answer = _with(ANSWERED, path, None)
        assert not Draft202012Validator(json_schema()).is_valid(answer)
        assert _answered(answer) == ""


def test_schemas_of_the_api_name_its_version() -> None:
    assert json_schema()["$id"] == f"urn:fleetc:stream-api:{API_VERSION}:stream"
    assert error_schema()["$id"] == f"urn:fleetc:stream-api:{API_VERSION}:error"
    assert API_VERSION == "1.0.0"


def test_schema_of_an_error() -> None:
    validator = Draft202012Validator(error_schema())
    assert validator.is_valid({"errors": ["not found"]})
    wrong: list[Any] = [{}, {"errors": []}, {"errors": [1]}, {"errors": "not found"}, [], "not found"]
    for value in wrong:
        assert not validator.is_valid(value)
