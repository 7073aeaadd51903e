"""`fleetc streams` against the stand-in: who gets the token, what is sent once, what is kept, and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fleetc.disk.ids_file import ids_path
from tests.online.support import TOKEN, Api, running, spec_text
from tests.rules.support import listed, rung, small, stream
from tests.support import ROOT, fleetc, killed_on_error

TARGET = "rtmp://push.example.net/live/key-of-the-target"
OTHER = "srt://other.example.net:9000?streamid=key-of-the-other"
SOURCE = "https://source.example.net/path-of-the-source/index.m3u8"
SECRETS = {"STREAM_TOKEN": TOKEN, "TARGET_URL": TARGET, "OTHER_URL": OTHER, "SOURCE": SOURCE, "KEY": "header-value-1"}
LADDER = listed(small("360p", fps="0"), rung("720p"))
PUSHED = '{ targets = [{ profile = "720p", spec = { url = { env = "TARGET_URL" } } }] }'
BOTH = (
    '{ targets = [{ profile = "720p", spec = { url = { env = "TARGET_URL" } } }, '
    '{ profile = "720p", spec = { url = { env = "OTHER_URL" } } }] }'
)


class Fleet:
    """A spec at the stand-in, and the command about it."""

    def __init__(self, directory: Path, api: Api) -> None:
        self.api = api
        self.spec = directory / "fleet.toml"
        self.ids_file = ids_path(self.spec)
        self.before = len(api.log())

    def write(self, *streams: str) -> None:
        """The spec with these streams."""
        self.spec.write_text(spec_text(self.api, *streams), encoding="utf-8")

    def run(self, *arguments: str, code: int, **environment: str) -> str:
        """Run the command; both outputs, in which no secret is."""
        own = {**SECRETS, "FLEETC_STREAM_APIS": self.api.base_url, **environment}
        done = fleetc("streams", self.spec, *arguments, cwd=None, **own)
        printed = done.stdout + done.stderr
        assert done.returncode == code, printed
        assert "Traceback" not in printed and "internal error" not in printed
        for secret in SECRETS.values():
            assert secret not in printed
        if self.ids_file.is_file():
            assert not any(secret.encode() in self.ids_file.read_bytes() for secret in SECRETS.values())
        return printed

    def report(self, *arguments: str, code: int, **environment: str) -> dict[str, Any]:
        """What the command says to programs."""
        text = self.run(*arguments, "--format", "json", code=code, **environment)
        found: dict[str, Any] = json.loads(text[text.index("{") :])
        return found

    def sent(self) -> list[str]:
        """Methods and paths of what changed something, since the spec was made."""
        seen = self.api.log()[self.before :]
        return [f"{row['method']} {row['path'].removeprefix('/api')}" for row in seen if row["method"] != "GET"]

    def ids(self) -> dict[str, Any]:
        """What is kept about the streams."""
        found: dict[str, Any] = json.loads(self.ids_file.read_text())["streams"][self.api.base_url]
        return found


@pytest.fixture
def fleet(api: Api, tmp_path: Path) -> Fleet:
    return Fleet(tmp_path, api)


def test_create_patch_and_in_sync(fleet: Fleet) -> None:
    pulled = stream("pulled", pull='{ source = { env = "SOURCE" }, headers = { X-Key = { env = "KEY" } } }')
    fleet.write(stream(profiles=LADDER, multistream=PUSHED, suspended="true"), pulled)
    assert "2 streams: 2 missing" in fleet.run(code=1)
    assert fleet.sent() == [] and not fleet.ids_file.exists()
    printed = fleet.run("--apply", code=0)
    assert printed.index("step 1: POST /stream") < printed.index("2 streams: 2 in_sync")
    ids = fleet.ids()
    main, other = ids["main"]["id"], ids["pulled"]["id"]
    assert fleet.sent() == ["POST /stream", f"PATCH /stream/{main}", "POST /stream"]
    (target,) = ids["main"]["targets"]
    assert {**target, "id": ""} == {"profile": "720p", "kind": "env", "reference": "TARGET_URL", "id": ""}
    stored = fleet.api.streams()
    assert stored[main]["suspended"] is True and stored[other]["pull"]["source"] == SOURCE
    text = fleet.ids_file.read_text()
    assert "2 in_sync" in fleet.run(code=0)
    assert "2 in_sync" in fleet.run("--apply", code=0)
    assert (len(fleet.sent()), fleet.ids_file.read_text()) == (3, text), "nothing is sent or written again"

    fleet.write(stream(profiles=LADDER.replace("3000000", "2000000"), multistream=PUSHED), pulled)
    assert fleet.report(code=1)["streams"][0]["drifts"][0]["path"] == ["profiles", "720p", "bitrate"]
    told = fleet.report("--apply", code=0)
    assert [row["result"] for row in told["applied"]] == ["changed", "unchanged"]
    assert told["plan"][0]["kind"] == "drift" and told["streams"][0]["kind"] == "in_sync"
    assert fleet.sent()[3:] == [f"PATCH /stream/{main}"] * 2, "and last, it is no longer suspended"


DRIFTS: dict[str, tuple[dict[str, Any], list[list[Any]]]] = {
    "name": ({"name": "x"}, [["name"]]),
    "creator": ({"creatorId": {"type": "unverified", "value": "x"}}, [["creatorId", "value"]]),
    "creator gone": ({"creatorId": None}, [["creatorId", "type"], ["creatorId", "value"]]),
    "tag": ({"userTags": {"seats": 2}}, [["userTags", "seats"]]),
    "tag more": ({"userTags": {"seats": 1, "row": "a"}}, [["userTags", "row"]]),
    "tag as text": ({"userTags": {"seats": "1"}}, [["userTags", "seats"]]),
    "policy": (
        {"playbackPolicy": {"type": "jwt", "allowedOrigins": ["https://a.example"]}},
        [["playbackPolicy", "type"]],
    ),
    "origins": (
        {"playbackPolicy": {"type": "public", "allowedOrigins": ["https://b.example"]}},
        [["playbackPolicy", "allowedOrigins"]],
    ),
    "profile lost": ({"profiles": "first"}, [["profiles", "720p"]]),
    "no profiles": ({"profiles": []}, [["profiles", "360p"], ["profiles", "720p"]]),
    "recorded": ({"record": False}, [["record"]]),
    "recording": (
        {"recordingSpec": {"profiles": [{"bitrate": 400}]}},
        [["recordingSpec", "profiles", 0, "bitrate"]],
    ),
    "recording lost": ({"recordingSpec": None}, [["recordingSpec", "profiles"]]),
    "target lost": ({"multistream": None}, [["multistream", "targets", "source to t-1"]]),
    "target silent": (
        {"multistream": {"targets": [{"profile": "source", "id": "t-1", "videoOnly": True}]}},
        [["multistream", "targets", "source to t-1", "videoOnly"]],
    ),
    "suspended": ({"suspended": True}, [["suspended"]]),
    "pulled": ({"pull": {"source": "https://a.example/x"}}, [["pull"]]),
}
SAME: dict[str, dict[str, Any]] = {
    "as declared": {},
    "order of profiles": {"profiles": "reversed"},
    "profile that the service fills in": {"profiles": "filled"},
    "numbers of JavaScript": {"userTags": {"seats": 1.0}},
    "counters": {"lastSeen": 7, "sourceBytes": 1e9, "isActive": True, "isHealthy": False, "issues": ["x"]},
    "no policy": {"playbackPolicy": {"type": "public", "allowedOrigins": ["https://a.example"], "refreshInterval": 9}},
    "leftovers": {"streamKey": "abcd-efgh", "playbackId": "p", "renditions": {"a": "b"}, "region": "eu"},
}
ROWS = [
    {"name": "360p", "width": 640, "height": 360, "bitrate": 800000, "fps": 0},
    {"name": "720p", "width": 1280, "height": 720, "bitrate": 3000000, "fps": 30},
]


def _stored(stream_id: str, changes: dict[str, Any]) -> dict[str, Any]:
    stored = {
        "id": stream_id,
        "name": "main",
        "creatorId": {"type": "unverified", "value": "user-1"},
        "userTags": {"seats": 1},
        "playbackPolicy": {"type": "public", "allowedOrigins": ["https://a.example"]},
        "profiles": ROWS,
        "record": True,
        "recordingSpec": {"profiles": [{"bitrate": 500}]},
        "multistream": {"targets": [{"profile": "source", "id": "t-1"}]},
        "suspended": False,
        **changes,
    }
    shapes = {
        "first": ROWS[:1],
        "reversed": ROWS[::-1],
        "filled": [{"profile": "H264ConstrainedHigh", "fpsDen": 1, **row} for row in ROWS],
    }
    if isinstance(stored["profiles"], str):
        stored["profiles"] = shapes[stored["profiles"]]
    return {key: value for key, value in stored.items() if value is not None}


def test_planted_drifts_are_found_exactly(fleet: Fleet) -> None:
    cases = {
        **{f"drift {name}": row for name, row in DRIFTS.items()},
        **{name: (row, []) for name, row in SAME.items()},
    }
    names = {case: f"s{place}" for place, case in enumerate(cases)}
    fleet.api.put(*(_stored(f"planted-{names[case]}", changes) for case, (changes, _) in cases.items()))
    declared = {
        "name": '"main"',
        "creatorId": '"user-1"',
        "userTags": "{ seats = 1 }",
        "playbackPolicy": '{ type = "public", allowedOrigins = ["https://a.example"] }',
        "profiles": LADDER,
        "record": "true",
        "recordingSpec": "{ profiles = [{ bitrate = 500 }] }",
        "multistream": '{ targets = [{ profile = "source", id = "t-1" }] }',
        "suspended": "false",
    }
    fleet.write(*(stream(name, **declared) for name in names.values()))
    entries = {name: {"id": f"planted-{name}"} for name in names.values()}
    fleet.ids_file.write_text(json.dumps({"version": 1, "streams": {fleet.api.base_url: entries}}))
    told = {row["stream"]: row for row in fleet.report(code=1)["streams"]}
    found = {case: [drift["path"] for drift in told[name]["drifts"]] for case, name in names.items()}
    assert found == {case: paths for case, (_, paths) in cases.items()}
    assert {told[names[case]]["kind"] for case in SAME} == {"in_sync"}
    assert fleet.sent() == []


LOST = ["made-then-silent", "made-then-cut", "made-then-500", "made-without-id", "made-with-token"]


@pytest.mark.parametrize("name", LOST)
def test_creation_whose_answer_was_lost_is_not_sent_again(fleet: Fleet, name: str) -> None:
    fleet.write(stream(name=f'"{name}"'))
    told = fleet.report("--apply", code=4, FLEETC_STREAM_SECONDS="3" if name == "made-then-silent" else "60")
    assert (told["applied"][0]["result"], told["streams"][0]["kind"]) == ("unknown", "unknown")
    assert fleet.ids() == {"main": {"id": None}}
    assert fleet.sent() == ["POST /stream"]
    for arguments in ((), ("--apply",)):
        again = fleet.run(*arguments, code=4)
        assert "stream main: unknown: it may exist or not" in again
        assert f'look for a stream named "{name}"' in again
    assert fleet.sent() == ["POST /stream"], "and never again"


def test_refused_creation_can_be_sent_again(fleet: Fleet) -> None:
    for fault, said in (("fault-400", "id was not provided"), ("fault-429", "asks to wait 3600 s")):
        fleet.write(stream(name=f'"{fault}"'))
        told = fleet.report("--apply", code=1)
        assert (told["applied"][0]["result"], said in told["applied"][0]["reasons"][0]) == ("refused", True)
        assert fleet.ids_file.exists() and "main" not in json.loads(fleet.ids_file.read_text())["streams"]


def test_nothing_follows_a_failure_that_would_meet_all(fleet: Fleet) -> None:
    fleet.write(stream("a", name='"fault-403"'), stream("b"), stream("c"))
    told = fleet.report("--apply", code=1)
    assert [row["result"] for row in told["applied"]] == ["refused", "not_begun", "not_begun"]
    assert fleet.sent() == ["POST /stream"]


def test_two_targets_of_one_kind_get_their_ids(fleet: Fleet) -> None:
    fleet.write(stream(profiles=LADDER, multistream=BOTH))
    fleet.run("--apply", code=0)
    first, second = fleet.ids()["main"]["targets"]
    assert first["reference"] == "OTHER_URL" and second["reference"] == "TARGET_URL"
    assert first["id"] != second["id"]
    fleet.write(stream(profiles=LADDER))
    fleet.run("--apply", code=0)
    assert fleet.api.streams()[fleet.ids()["main"]["id"]]["multistream"] == {"targets": []}


def test_targets_that_a_patch_makes_are_learnt_and_sent_once(fleet: Fleet) -> None:
    fleet.write(stream(profiles=LADDER))
    fleet.run("--apply", code=0)
    fleet.write(stream(profiles=LADDER, multistream=BOTH))
    fleet.run("--apply", code=0)
    assert all(row["id"] for row in fleet.ids()["main"]["targets"])
    fleet.run("--apply", code=0)
    assert len(fleet.sent()) == 2


def test_new_target_whose_patch_was_lost_is_found_or_left(fleet: Fleet) -> None:
    fleet.write(stream(profiles=LADDER))
    fleet.run("--apply", code=0)
    entry = fleet.ids()["main"]
    lost = {"profile": "720p", "kind": "env", "reference": "TARGET_URL", "id": None}
    content = {"version": 1, "streams": {fleet.api.base_url: {"main": {**entry, "targets": [lost]}}}}
    fleet.ids_file.write_text(json.dumps(content))
    fleet.write(stream(profiles=LADDER, multistream=PUSHED))
    told = fleet.report("--apply", code=1)
    assert told["applied"][0]["result"] == "left", "it may have arrived, and nobody sees it"
    assert told["streams"][0]["drifts"][0]["action"] == "manual"
    stored = fleet.api.streams()[entry["id"]]
    fleet.api.put({**stored, "multistream": {"targets": [{"profile": "720p", "id": "t-77"}]}})
    fleet.run("--apply", code=0)
    assert fleet.ids()["main"]["targets"] == [{**lost, "id": "t-77"}]
    assert len(fleet.sent()) == 1


def test_change_whose_answer_was_lost_is_not_sent_again_where_it_arrived(fleet: Fleet) -> None:
    fleet.write(stream(profiles=LADDER))
    fleet.run("--apply", code=0)
    fleet.write(stream(name='"patched-then-cut"', profiles=LADDER, multistream=PUSHED))
    told = fleet.report("--apply", code=1)
    assert told["applied"][0]["result"] == "unknown"
    assert told["applied"][0]["reasons"][0].startswith("it may have arrived: ")
    fleet.run("--apply", code=0)
    fleet.run("--apply", code=0)
    sent = [row["body"].keys() for row in fleet.api.log()[fleet.before :] if row["method"] == "PATCH"]
    assert sent == [{"name"}, {"multistream"}], "the second run goes on behind what arrived"


def test_active_stream_is_left_for_later(fleet: Fleet) -> None:
    fleet.write(stream(profiles=LADDER))
    fleet.run("--apply", code=0)
    stream_id = fleet.ids()["main"]["id"]
    fleet.api.put({**fleet.api.streams()[stream_id], "isActive": True})
    fleet.write(stream(name='"renamed"', profiles="[]"))
    told = fleet.report("--apply", code=1)
    assert told["applied"][0] == {
        "stream": "main",
        "result": "left",
        "accepted": 1,
        "reasons": ["waits until the stream is inactive: profiles"],
    }
    assert fleet.api.streams()[stream_id]["name"] == "renamed"


def test_new_source_needs_a_person(fleet: Fleet) -> None:
    fleet.write(stream())
    fleet.run("--apply", code=0)
    fleet.write(stream(pull='{ source = "https://a.example/index.m3u8" }'))
    assert fleet.report("--apply", code=1)["applied"][0]["result"] == "left"
    assert len(fleet.sent()) == 1


def test_stream_that_is_gone_is_not_created_by_itself(fleet: Fleet) -> None:
    fleet.write(stream())
    fleet.ids_file.write_text(json.dumps({"version": 1, "streams": {fleet.api.base_url: {"main": {"id": "gone"}}}}))
    printed = fleet.run("--apply", code=1)
    assert "stream main: missing" in printed and "another account or project" in printed
    assert fleet.sent() == []


def test_ids_belong_to_one_address(fleet: Fleet) -> None:
    fleet.write(stream())
    elsewhere = {"https://streams.example.net/api": {"main": {"id": "there"}}}
    fleet.ids_file.write_text(json.dumps({"version": 1, "streams": elsewhere}))
    for arguments in ((), ("--apply",)):
        printed = fleet.run(*arguments, code=4)
        assert (
            "stream main: unknown" in printed and "if that is the same service, write its new address there" in printed
        )
        assert f'if it is another, add "{fleet.api.base_url}": {{}} beside it' in printed
    assert fleet.sent() == [], "a person says first which service it is"
    fleet.ids_file.write_text(json.dumps({"version": 1, "streams": {**elsewhere, fleet.api.base_url: {}}}))
    fleet.run("--apply", code=0)
    kept = json.loads(fleet.ids_file.read_text())["streams"]
    assert kept["https://streams.example.net/api"] == {"main": {"id": "there"}}
    assert kept[fleet.api.base_url]["main"]["id"].startswith("stream-")


def test_stream_that_the_spec_no_longer_declares_is_told(fleet: Fleet) -> None:
    fleet.write(stream(), stream("second"))
    fleet.run("--apply", code=0)
    fleet.write(stream())
    printed = fleet.run(code=0)
    assert "note: fleet.streams.json has an id of second, which the spec does not declare" in printed


def test_missing_and_unfit_secrets_stop_everything(fleet: Fleet) -> None:
    fleet.write(stream(profiles=LADDER, multistream=PUSHED))
    assert "env TARGET_URL" in fleet.run("--apply", code=1, TARGET_URL="")
    assert "does not have the form" in fleet.run("--apply", code=1, TARGET_URL="https://no.example/stream-key-1")
    assert "fewer than 8 characters" in fleet.run("--apply", code=1, TARGET_URL="rtmp:/")
    for token, said in (("", "is not set"), ("short", "fewer than 8"), (f"{TOKEN}\n", "look for a line end")):
        assert said in fleet.run(code=1, STREAM_TOKEN=token)
    assert fleet.sent() == []


def test_token_goes_only_where_its_owner_lets_it(fleet: Fleet) -> None:
    fleet.write(stream())
    own = fleet.api.base_url
    for trusted in (
        "",
        "https://streams.example.net/api",
        own + "/v2",
        own.replace("/api", ""),
        own.replace("1:", "2:"),
    ):
        printed = fleet.run(code=2, FLEETC_STREAM_APIS=trusted)
        assert "error[stream-api-not-trusted]" in printed and f"--send-token-to {own}" in printed
    assert len(fleet.api.log()) == fleet.before
    fleet.run("--send-token-to", own, code=1, FLEETC_STREAM_APIS="")
    fleet.run(code=1, FLEETC_STREAM_APIS=f"https://streams.example.net/api {own}")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://streams.example.net/api", "everybody on the way could read the token"),
        ("http://192.0.2.1/api", "everybody on the way could read the token"),
        ("http://own.localhost/api", "everybody on the way could read the token"),
        ("https://streams.example.net/api/", "cannot end with a slash"),
        ("https://streams.example.net/api?key=1", "only have a plain path"),
        ("https://streams.example.net/../api", "only have a plain path"),
        ("https://user:password@streams.example.net/api", "user name or password"),
        ("ftp://streams.example.net/api", "not a URL with http or https"),
    ],
)
def test_address_that_no_token_goes_to(fleet: Fleet, url: str, said: str) -> None:
    fleet.spec.write_text(spec_text(Api(url), stream()))
    assert said in fleet.run(code=1)
    fleet.write(stream())
    assert said in fleet.run("--send-token-to", url, code=2)


def test_spec_without_an_api(fleet: Fleet) -> None:
    fleet.write(stream())
    fleet.spec.write_text(fleet.spec.read_text().partition("[stream_api]")[0])
    assert "error[stream-api-missing]" in fleet.run(code=2)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"version": 2, "streams": {}}',
        b'{"version": 1}',
        b'{"version": 1, "streams": {"u": {"main": {"id": ""}}}}',
        b'{"version": 1, "streams": {"u": {"main": {"id": "../x"}}}}',
        b'{"version": 1, "streams": {"u": {"main": {"id": "a", "more": 1}}}}',
        b'{"version": 1, "streams": {"u": {"main": {}}}}',
        b'{"version": 1, "streams": {"u": {"main": {"id": "a"}, "second": {"id": "a"}}}}',
        b'<<<<<<< HEAD\n{"version": 1}',
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_damaged_ids(fleet: Fleet, content: bytes, form: str) -> None:
    fleet.write(stream())
    fleet.ids_file.write_bytes(content)
    printed = fleet.run("--apply", "--format", form, code=1)
    assert ("ids-unreadable" if content == b"\xff" else "ids-damaged") in printed
    assert fleet.sent() == [] and fleet.ids_file.read_bytes() == content


def test_ids_that_are_no_file(fleet: Fleet, tmp_path: Path) -> None:
    fleet.write(stream())
    (tmp_path / "elsewhere.json").write_text('{"version": 1, "streams": {}}')
    fleet.ids_file.symlink_to("elsewhere.json")
    assert "error[ids-unreadable]" in fleet.run("--apply", code=1)
    fleet.ids_file.unlink()
    os.mkfifo(fleet.ids_file)
    assert "error[ids-unreadable]" in fleet.run("--apply", code=1)
    assert fleet.sent() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--status", "200"), "--status and --bindings belong to an answer in a file; name the file with --observed"),
        (("--observed", "x", "--apply", "--stream", "main"), "--observed works offline, so it takes no --apply"),
        (("--observed", "x"), "--observed has the answer about one stream; name it with --stream"),
        (("--stream", "mian"), 'there is no stream "mian"; did you mean "main"?'),
    ],
)
def test_wrong_usage(fleet: Fleet, arguments: tuple[str, ...], said: str) -> None:
    fleet.write(stream())
    assert fleet.run(*arguments, code=2) == f"error: {said}\n"


def test_named_streams_only(fleet: Fleet) -> None:
    fleet.write(stream(), stream("second"), stream("third"))
    fleet.run("--apply", "--stream", "second", "--stream", "third", code=0)
    assert sorted(fleet.ids()) == ["second", "third"]


def _start(fleet: Fleet, *arguments: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-I", "-m", "fleetc", "streams", str(fleet.spec), *arguments]
    own = {**os.environ, **SECRETS, "FLEETC_STREAM_APIS": fleet.api.base_url}
    return subprocess.Popen(words, cwd=ROOT, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _until_posted(fleet: Fleet) -> None:
    for _ in range(300):
        if fleet.sent():
            return
        time.sleep(0.05)
    raise AssertionError("nothing was sent")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda end: end.name)
def test_killed_while_it_creates(fleet: Fleet, end: signal.Signals) -> None:
    fleet.write(stream(name='"made-then-silent"'))
    with killed_on_error(_start(fleet, "--apply")) as process:
        _until_posted(fleet)
        process.send_signal(end)
        output, _ = process.communicate(timeout=20)
    assert process.returncode != 0 and "Traceback" not in output
    assert fleet.ids() == {"main": {"id": None}}
    assert "stream main: unknown" in fleet.run("--apply", code=4)
    assert fleet.sent() == ["POST /stream"]


def test_two_at_once(fleet: Fleet) -> None:
    fleet.write(stream(name='"made-then-silent"'))
    with killed_on_error(_start(fleet, "--apply")) as process:
        _until_posted(fleet)
        assert "error[streams-busy]" in fleet.run("--apply", code=1)
        process.kill()
        process.communicate(timeout=20)
    assert fleet.sent() == ["POST /stream"]


@pytest.mark.slow
def test_twenty_streams_at_a_service_with_random_faults(processes: None, tmp_path: Path) -> None:
    with running("--faulty", "0.15") as api:
        fleet = Fleet(tmp_path, api)
        fleet.write(*(stream(f"s{number}", suspended="true") for number in range(20)))
        for _ in range(30):
            done = fleetc("streams", fleet.spec, "--apply", cwd=None, **SECRETS, FLEETC_STREAM_APIS=api.base_url)
            stored = {held["name"]: key for key, held in api.streams().items()}
            assert len(stored) == len(api.streams()), "no two of a name"
            file = json.loads(fleet.ids_file.read_text())
            entries = file["streams"][api.base_url]
            assert set(stored) <= set(entries), "no id is lost"
            if done.returncode == 0:
                break
            lost = [name for name, entry in entries.items() if entry["id"] is None]
            for name in lost:  # a person looks
                if name in stored:
                    entries[name]["id"] = stored[name]
                else:
                    del entries[name]
            fleet.ids_file.write_text(json.dumps(file))
        assert "20 streams: 20 in_sync" in done.stdout
