"""Answers of the stream API: streams, errors, and what is neither."""

from __future__ import annotations

import json

import pytest

from fleetc.stream_api import scrub
from fleetc.stream_api.observed import NotJsonError, parse_json, read, read_bindings
from tests.stream_api.support import Json
from tests.support import for_each

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
    assert "add its status" in answer.reasons[0]
    assert read('{"errors": ["x"], "name": "main"}', 200).kind == "stream"
    assert read('{"errors": ["x"], "name": "main"}', 404).kind == "missing"


@for_each("status", [None, 401, 403, 500])
@for_each(
    "token",
    [TOKEN, "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl", "abc123", "A" * 40, "x_Y-z9/q+r=="],
)
@for_each("form", ["no token object {} found", "token={}", '"{}"', "Bearer {}", "{}"])
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
    assert len(answer.notes) == 6
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
        ("[" * 100_000, "nested"),
        ("[" * 70 + "]" * 70, "nested"),
        ('{"a": 1e999999999}', "out of range"),
        ('{"a": 1e-999999999}', "out of range"),
        ('{"a": ' + "1" * 5000 + "}", "out of range"),
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


# -------------------------------------------------------------------------- what a declaration would be refused for

_PROFILE: Json = {"name": "720p", "width": 1280, "height": 720, "bitrate": 3_000_000, "fps": 30}
_TARGET: Json = {"profile": "source", "id": "t1"}
_PULL: Json = {"source": "https://studio.example.net/live"}

REFUSED: dict[str, tuple[Json, str]] = {
    "recording without record": ({"recordingSpec": {}}, "stream-recording-spec-without-record"),
    "recording with record off": ({"record": False, "recordingSpec": {}}, "stream-recording-spec-without-record"),
    "policy without its webhook": ({"playbackPolicy": {"type": "webhook"}}, "stream-policy-webhook"),
    "two profiles of one name": ({"profiles": [_PROFILE, _PROFILE]}, "rendition-name"),
    "profile named source": ({"profiles": [{**_PROFILE, "name": "source"}]}, "rendition-name"),
    "recordings of one name": (
        {"record": True, "recordingSpec": {"profiles": [{"name": "a", "bitrate": 400}] * 2}},
        "rendition-name",
    ),
    "target of an unknown profile": (
        {"multistream": {"targets": [{**_TARGET, "profile": "4k"}]}},
        "stream-target-refused",
    ),
    "target of none but the source": (
        {"profiles": [], "multistream": {"targets": [{**_TARGET, "profile": "240p0"}]}},
        "stream-target-refused",
    ),
    "target that leads nowhere": ({"multistream": {"targets": [{"profile": "source"}]}}, "stream-target-refused"),
    "one target twice": ({"multistream": {"targets": [_TARGET, _TARGET]}}, "stream-target-refused"),
    "target with an empty id": ({"multistream": {"targets": [{**_TARGET, "id": ""}]}}, "invalid-value"),
    "tags too long": ({"userTags": {"a": "x" * 2048}}, "stream-request-too-large"),
    "number that a double loses": ({"userTags": {"a": 2**53 + 1}}, "invalid-value"),
    "source that is no URL": ({"pull": {"source": "studio.example.net/live"}}, "invalid-value"),
    "latitude beyond the pole": ({"pull": {**_PULL, "location": {"lat": 91, "lon": 1}}}, "invalid-value"),
    "longitude beyond the date line": ({"pull": {**_PULL, "location": {"lat": 1, "lon": -181}}}, "invalid-value"),
    "origin with a wildcard": ({"playbackPolicy": {"type": "public", "allowedOrigins": ["*"]}}, "invalid-value"),
    "origin with a path": (
        {"playbackPolicy": {"type": "public", "allowedOrigins": ["https://a.example/x"]}},
        "invalid-value",
    ),
    "name that no header has": ({"pull": {**_PULL, "headers": {"a b": "x"}}}, "invalid-value"),
    "one header twice": ({"pull": {**_PULL, "headers": {"X-Key": "x", "x-key": "y"}}}, "invalid-value"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_declared_stream_is_refused_for_is_noted(case: str) -> None:
    answered, code = REFUSED[case]
    answer = read(json.dumps({**STREAM, **answered}))
    assert answer.kind == "stream"
    (note,) = answer.notes
    assert f"would be refused in a spec ({code}): " in note
    assert note.split(" ")[0].split(".")[0] in answered


def test_every_note_is_given_at_once() -> None:
    answered: Json = {}
    for part, _ in REFUSED.values():
        answered |= part
    answered |= {"pull": {"source": "x", "location": {"lat": 91, "lon": 1}, "headers": {"a b": "hunter22"}}}
    answer = read(json.dumps({**STREAM, **answered, "recordingSpec": {}, "record": False}))
    codes = {note.partition("(")[2].partition(")")[0] for note in answer.notes}
    assert {"invalid-value", "stream-recording-spec-without-record"} <= codes
    assert "hunter22" not in " ".join(answer.notes)


def test_null_for_renditions_of_recordings_is_told() -> None:
    answer = read(json.dumps({**STREAM, "record": True, "recordingSpec": {"profiles": None}}))
    assert answer.notes == ("recordingSpec.profiles is null, which is read as unset",)


def test_sound_answers_have_no_such_note() -> None:
    """Addresses with credentials, values of headers and decimals are what answers have and declarations do not."""
    answered = {
        "pull": {
            "source": "https://user:hunter22hunter22@studio.example.net/live?token=0123456789abcdef0123456789abcdef",
            "headers": {"Authorization": f"Bearer {SIGNED}"},
            "isMobile": 0,
            "location": {"lat": 1.0, "lon": 1.5},
        },
        "profiles": [{**_PROFILE, "fps": 30.0, "profile": "H264ConstrainedHigh"}],
        "record": True,
        "recordingSpec": {"profiles": []},
        "playbackPolicy": None,
        "userTags": {"key": TOKEN, "list": ["a", 1.5]},
        "multistream": {"targets": [{**_TARGET, "profile": "720p"}]},
        "suspended": False,
    }
    assert read(json.dumps({**STREAM, **answered})).notes == ()
