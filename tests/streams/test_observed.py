"""Answers of the stream API: streams, errors, and what is neither."""

from __future__ import annotations

import json

import pytest

from compiler.streams import scrub
from compiler.streams.observed import NotJsonError, parse_json, read, read_bindings
from tests.streams.support import Json

STREAM: Json = {"name": "main", "id": "5a1b"}
SIGNED = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl"
TOKEN = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


def _kind(value: object, status: int | None = None) -> str:
    return read(json.dumps(value), status).kind


def test_stream() -> None:
    assert _kind(STREAM) == _kind(STREAM, 200) == "stream"


def test_session_of_a_stream_is_none() -> None:
    assert _kind({**STREAM, "parentId": "p"}) == "not_a_stream"
    assert _kind({**STREAM, "parentId": ""}) == "stream"


@pytest.mark.parametrize("value", [[], [STREAM], "x", 1, None, {}, {"id": "a"}, {"name": 1}, {"name": "a", "id": ".."}])
def test_what_is_no_stream(value: object) -> None:
    assert _kind(value, 200) == "invalid_response"


def test_list_is_told_apart() -> None:
    assert "no id" in read("[]").reasons[0]


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, "missing"), (401, "unreachable"), (403, "unreachable"), (429, "unreachable"), (500, "unreachable")],
)
def test_status_decides(status: int, kind: str) -> None:
    for body in ('{"errors": ["not found"]}', "<html>Bad gateway</html>", "", '{"errors": []}', json.dumps(STREAM)):
        assert read(body, status).kind == kind


@pytest.mark.parametrize(
    "body", ["<html>", "", "{}", '{"errors": []}', '{"errors": "x"}', '{"errors": [1]}', "[]", "null"]
)
def test_error_body_of_another_shape(body: str) -> None:
    assert read(body, 502).reasons == ("status 502: unparseable error body",)


def test_messages_of_an_error_are_told() -> None:
    assert read('{"errors": ["not found", "b"]}', 404).reasons == ("status 404: not found", "status 404: b")
    inner = json.dumps({"instancePath": "/profiles/0/width", "message": "must be >= 128"})
    assert "profiles" in read(json.dumps({"errors": [inner]}), 422).reasons[0]


def test_error_without_a_status_is_seen_by_its_shape() -> None:
    answer = read('{"errors": ["account not found"]}')
    assert (answer.kind, answer.reasons) == ("unreachable", ("an error: account not found",))


def test_errors_beside_a_name_are_neither() -> None:
    answer = read('{"errors": ["x"], "name": "main"}')
    assert (answer.kind, answer.stream) == ("invalid_response", {})
    assert "give its status" in answer.reasons[0]
    assert read('{"errors": ["x"], "name": "main"}', 200).kind == "stream"
    assert read('{"errors": ["x"], "name": "main"}', 404).kind == "missing"


@pytest.mark.parametrize("status", [None, 401, 403, 500])
@pytest.mark.parametrize(
    "token",
    [TOKEN, "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl", "abc123", "A" * 40, "x_Y-z9/q+r=="],
)
@pytest.mark.parametrize("form", ["no token object {} found", "token={}", '"{}"', "Bearer {}", "{}"])
def test_token_in_a_message_is_never_told(status: int | None, token: str, form: str) -> None:
    told = " ".join(read(json.dumps({"errors": [form.format(token)]}), status).reasons)
    pieces = [token] if len(token) < 8 else [token[start : start + 8] for start in range(len(token) - 7)]
    assert not any(piece in told for piece in pieces), told


def test_plain_words_stay() -> None:
    assert scrub.message("stream not found: 404, try again") == "stream not found: 404, try again"


def test_oddities_are_noted() -> None:
    answer = read(
        json.dumps(
            {
                **STREAM,
                "profiles": None,
                "pull": {"source": "https://a.example/x"},
                "streamKey": "hunter22",
                "multistream": {"targets": [{"profile": "source", "spec": {"url": "rtmp://a.example/hunter22"}}]},
                "region": "eu",
                "creatorId": {"type": "unverified", "value": "u", "more": 1},
            }
        )
    )
    assert answer.kind == "stream"
    assert len(answer.notes) == 5
    assert "hunter22" not in " ".join(answer.notes)
    assert {"region is not described by the API", "creatorId.more is not described by the API"} < set(answer.notes)


def test_reasons_repeat_no_value() -> None:
    answer = read(json.dumps({**STREAM, "streamKey": 5, "pull": {"source": ["hunter22"]}, "record": "hunter22"}))
    assert answer.kind == "invalid_response"
    assert len(answer.reasons) == 3
    assert "hunter22" not in " ".join(answer.reasons)


# ---------------------------------------------------------------------------------------------------------- JSON


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expecting value"),
        ('{"a": 1', "delimiter"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[" * 100_000, "deeper"),
        ("[" * 70 + "]" * 70, "deeper"),
        ('{"a": 1e999999999}', "bounds"),
        ('{"a": 1e-999999999}', "bounds"),
        ('{"a": ' + "1" * 5000 + "}", "bounds"),
        ("\ufeff{}", "BOM"),
        ("{} x", "extra data"),
    ],
    ids=range(12),
)
def test_what_is_not_json(text: str, reason: str) -> None:
    with pytest.raises(NotJsonError, match=reason):
        parse_json(text)


def test_place_of_a_mistake() -> None:
    with pytest.raises(NotJsonError) as found:
        parse_json('{\n  "a": x')
    assert (found.value.line, found.value.column) == (2, 8)


def test_bindings() -> None:
    row = {"profile": "source", "kind": "env", "reference": "A", "id": "t1"}
    (binding,) = read_bindings(json.dumps([row]))
    assert binding._asdict() == row
    wrong: list[object] = [{}, [1], [{**row, "id": ""}], [{**row, "kind": "file"}], [{**row, "more": 1}], [{"id": "t"}]]
    for value in wrong:
        with pytest.raises(ValueError, match="validation error"):
            read_bindings(json.dumps(value))
