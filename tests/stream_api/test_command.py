"""`fleetc streams` as a user runs it: kinds, exit codes, forms, and that no secret is printed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import broadcast, listed, rung, small, stream
from tests.support import ROOT, fleetc

SECRET = "hunter22-hunter22"
SPEC = broadcast(
    stream(
        profiles=listed(small("360p", fps="0"), rung("720p")),
        multistream='{ targets = [{ profile = "720p", spec = { url = { env = "TARGET_URL" } } }] }',
    ),
    stream(
        "pulled",
        pull='{ source = { env = "SOURCE" }, headers = { X-Key = { env = "KEY" } } }',
        profiles="[]",
    ),
)
PROFILES = [
    {"name": "360p", "width": 640, "height": 360, "bitrate": 800000, "fps": 0, "profile": "H264ConstrainedHigh"},
    {"name": "720p", "width": 1280, "height": 720, "bitrate": 3000000, "fps": 30, "profile": "H264ConstrainedHigh"},
]
ANSWER = {
    "id": "5a1b",
    "name": "main",
    "streamKey": SECRET,
    "profiles": PROFILES,
    "multistream": {"targets": [{"profile": "720p", "id": "t1"}]},
}


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def _run(spec: Path, answer: object, *more: str, name: str = "main") -> subprocess.CompletedProcess[str]:
    path = spec.with_name("answer.json")
    path.write_text(answer if isinstance(answer, str) else json.dumps(answer), encoding="utf-8")
    done = fleetc("streams", spec, "--observed", path, "--stream", name, *more)
    assert "Traceback" not in done.stderr + done.stdout
    assert "internal error" not in done.stderr
    for start in range(len(SECRET) - 7):
        assert SECRET[start : start + 8] not in done.stdout + done.stderr
    return done


def test_stream_in_sync(spec: Path, snapshot: SnapshotAssertion) -> None:
    done = _run(spec, ANSWER)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == snapshot


def test_drift_with_its_steps(spec: Path, snapshot: SnapshotAssertion) -> None:
    renamed = [PROFILES[0], {**PROFILES[1], "name": "hd", "foo": 1}]
    targets = {"targets": [{"profile": "hd", "id": "t1"}]}
    done = _run(spec, {**ANSWER, "isActive": True, "name": "old", "profiles": renamed, "multistream": targets})
    assert done.returncode == 1
    assert done.stdout == snapshot


def test_drift_for_programs(spec: Path) -> None:
    done = _run(spec, {**ANSWER, "profiles": PROFILES[:1], "multistream": {}}, "--format", "json")
    assert done.returncode == 1
    whole = json.loads(done.stdout)
    (told,) = whole["streams"]
    assert told["kind"] == "drift"
    assert [drift["path"] for drift in told["drifts"]] == [["profiles", "720p"], ["multistream", "targets", 0]]
    assert [list(step["body"]) for step in told["steps"]] == [["profiles"], ["multistream"]]
    assert told["steps"][1]["body"]["multistream"]["targets"][0]["spec"]["url"] == {"$secret": {"env": "TARGET_URL"}}
    assert whole["diagnostics"] == []


def test_bindings_of_the_report_can_be_given_back(spec: Path) -> None:
    (told,) = json.loads(_run(spec, ANSWER, "--format", "json").stdout)["streams"]
    path = spec.with_name("bindings.json")
    path.write_text(json.dumps(told["bindings"]), encoding="utf-8")
    gone = {**ANSWER, "multistream": {"targets": []}}
    done = _run(spec, gone, "--bindings", str(path), "--format", "json")
    assert json.loads(done.stdout)["streams"][0]["steps"][0]["body"] == {
        "multistream": {"targets": [{"profile": "720p", "id": "t1"}]}
    }


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_of_an_answer_are_not_printed(spec: Path, form: str) -> None:
    pull = {"source": f"https://u:{SECRET}@a.example/{SECRET}", "headers": {"X-Key": SECRET, "X-More": SECRET}}
    answer = {**ANSWER, "pull": pull, "profiles": []}
    for name in ("pulled", "main"):
        assert _run(spec, answer, "--format", form, name=name).returncode == 1
    target = {"profile": "720p", "id": "t1", "spec": {"url": f"rtmp://a.example/{SECRET}"}}
    _run(spec, {**ANSWER, "multistream": {"targets": [target]}}, "--format", form)
    _run(spec, {**ANSWER, "streamKey": [SECRET], "pull": SECRET}, "--format", form)
    _run(spec, {"errors": [f"no token object {SECRET} found"]}, "--format", form)
    _run(spec, {"errors": [f"no token object {SECRET} found"]}, "--status", "401", "--format", form)
    _run(spec, '{"streamKey": "' + SECRET + '", ', "--format", form)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "context",
    [
        {"apiKey": SECRET},
        {"a": [{"b": {"access_token": SECRET}}]},
        {"password": {"deep": [SECRET]}},
        {"signingKey": SECRET, "zone": 7},
    ],
)
def test_what_a_key_calls_a_secret_is_not_printed(spec: Path, form: str, context: object) -> None:
    policy: dict[str, object] = {"type": "webhook", "webhookId": "w", "webhookContext": context}
    assert _run(spec, {**ANSWER, "playbackPolicy": policy}, "--format", form).returncode == 1
    own = stream("own", playbackPolicy='{ type = "webhook", webhookId = "w", webhookContext = { open = true } }')
    spec.write_text(SPEC + own, encoding="utf-8")
    done = _run(spec, {"name": "own", "playbackPolicy": policy}, "--format", form, name="own")
    assert "[secret]" in done.stdout


@pytest.mark.parametrize(
    ("answer", "status", "kind", "code"),
    [
        ({"errors": ["not found"]}, "404", "missing", 1),
        ({"errors": ["not found"]}, "403", "unreachable", 4),
        ("<html>", "502", "unreachable", 4),
        ({"errors": ["account not found"]}, None, "unreachable", 4),
        ({**ANSWER, "parentId": "p"}, None, "not_a_stream", 1),
        ([ANSWER], None, "invalid_response", 4),
        ({**ANSWER, "record": "yes"}, "200", "invalid_response", 4),
    ],
)
def test_kinds(spec: Path, answer: object, status: str | None, kind: str, code: int) -> None:
    done = _run(spec, answer, *(["--status", status] if status else []))
    assert done.returncode == code
    assert done.stdout.startswith(f"stream main: {kind}: ")


@pytest.mark.usefixtures("processes")
def test_answer_from_standard_input(spec: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-m", "fleetc", "streams", str(spec), "--observed", "-", "--stream", "main"],
        cwd=ROOT,
        input=json.dumps(ANSWER).encode(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", "answer-not-json"),
        (b"\xff", "answer-unreadable"),
        (b"", "answer-not-json"),
        (b"[" * 9999, "answer-not-json"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_bad_file(spec: Path, content: bytes, code: str, form: str) -> None:
    path = spec.with_name("bad.json")
    path.write_bytes(content)
    done = fleetc("streams", spec, "--observed", path, "--stream", "main", "--format", form)
    assert done.returncode == 1
    assert code in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_no_file_and_no_bindings(spec: Path) -> None:
    for where in (spec.with_name("none.json"), spec.parent):
        done = fleetc("streams", spec, "--observed", where, "--stream", "main")
        assert (done.returncode, "error[answer-unreadable]" in done.stderr) == (1, True)
    done = _run(spec, ANSWER, "--bindings", str(spec))
    assert (done.returncode, "error[bindings-invalid]" in done.stderr) == (1, True)


def test_stream_that_the_spec_lacks(spec: Path) -> None:
    done = _run(spec, ANSWER, name="mian")
    assert (done.returncode, done.stdout) == (2, "")
    assert 'there is no stream "mian"; did you mean "main"?' in done.stderr


def test_flawed_spec_is_told_as_by_check(spec: Path) -> None:
    spec.write_text(SPEC.replace("3000000", '"3000k"'), encoding="utf-8")
    done = _run(spec, ANSWER)
    assert done.returncode == 1
    assert "write 3000000, without quotes" in done.stderr


def test_schema_of_an_answer() -> None:
    schema = json.loads(fleetc("explain", "--schema", "stream").stdout)
    assert schema["required"] == ["name"]
    assert json.loads(fleetc("explain", "--schema", "stream-error").stdout)["required"] == ["errors"]
    assert json.loads(fleetc("explain", "--schema", "spec").stdout)["title"] == "fleetc spec, version 1"
