"""Streams from the spec to their files: what is refused and how that is told, and what the files hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.language.stream import PLACEHOLDER
from fleetc.upstream.stream_api import DEFAULT_PROFILES, NODE_BOUNDS, SERVER_OWNED
from tests.rules.support import broadcast, ladder, listed, printed, rung, silent, small, stream
from tests.support import compile_text, files_of

WHOLE = "\n".join(
    [
        ladder(small(gop='"2.0"', quality="0", fpsDen="1"), rung(profile='"H264High"')),
        """
[streams.stage-main]
name = "Main stage"
gateway = "gate"
ladder = "live"
creatorId = "user-1"
userTags = { city = "Köln", seats = 1200, rows = ["a", 2.5] }
record = true
recordingSpec = { profiles = [{ name = "archive", bitrate = 6000000, encoder = "HEVC", gop = "10.0" }] }
suspended = false

[streams.stage-main.playbackPolicy]
type = "webhook"
webhookId = "3f2d8a"
webhookContext = { zone = { id = 7, open = true } }
refreshInterval = 60
allowedOrigins = ["https://player.example.net"]

[[streams.stage-main.multistream.targets]]
profile = "720p"
spec = { name = "elsewhere", url = { env = "ELSEWHERE_URL" } }

[[streams.stage-main.multistream.targets]]
profile = "source"
id = "5a1b"
videoOnly = true

[streams.outside]
profiles = []

[streams.outside.pull]
source = { vault = "outside_source" }
headers = { Authorization = { env = "OUTSIDE_TOKEN" } }
isMobile = true
location = { lat = -33.9, lon = 18 }

[streams.plain]
""",
    ]
)


def _files(text: str) -> dict[str, str]:
    return files_of(broadcast(text))


def _plans(text: str) -> dict[str, StreamBlueprint]:
    plan = compile_text(broadcast(text)).blueprint
    assert plan is not None
    return {found.name: found for found in plan.streams}


# ------------------------------------------------------------------------------------------------- what is written


def test_every_file_of_streams(snapshot: SnapshotAssertion) -> None:
    found = {path: text for path, text in _files(WHOLE).items() if path.startswith("streams/")}
    assert list(found) == [
        "streams/outside.create.json",
        "streams/outside.secrets.json",
        "streams/plain.create.json",
        "streams/stage-main.auth-webhook.json",
        "streams/stage-main.create.json",
        "streams/stage-main.secrets.json",
    ]
    assert found == snapshot


def test_page_for_people(snapshot: SnapshotAssertion) -> None:
    page = _files(WHOLE)["FLEET.md"]
    assert page[page.index("## Streams") : page.index("## Before the first rollout")] == snapshot
    assert "## Streams" not in _files("")["FLEET.md"]


def test_one_ladder_reaches_three_destinations() -> None:
    files = _files(WHOLE)
    answer = json.loads(files["streams/stage-main.auth-webhook.json"])["profiles"]
    assert json.loads(files["hosts/edge/gate/transcoding.json"]) == answer
    assert "-transcodingOptions=/opt/fleetc/current/gate/transcoding.json\n" in files["hosts/edge/gate/launch.flags"]
    payload = json.loads(files["streams/stage-main.create.json"])["profiles"]
    assert [row["name"] for row in payload] == [row["name"] for row in answer] == ["360p", "720p"]
    assert payload[0] == {**answer[0], "quality": 0, "fpsDen": 1}  # the node would narrow its choice by them


def test_profiles_keep_their_three_states() -> None:
    def payload(**settings: str) -> Any:
        return json.loads(_files(stream(**settings))["streams/main.create.json"]).get("profiles", "left out")

    assert payload() == "left out"
    assert payload(profiles="[]") == []
    assert [row["name"] for row in payload(profiles=listed(rung()))] == ["720p"]


def test_default_ladder_is_written_out_for_nodes() -> None:
    files = _files(stream(gateway='"gate"'))
    rows = [dict(row) for row in DEFAULT_PROFILES]
    assert json.loads(files["hosts/edge/gate/transcoding.json"]) == rows
    assert json.loads(files["streams/main.auth-webhook.json"]) == {"manifestID": "main", "profiles": rows}


def test_source_only_is_said_by_the_webhook_alone() -> None:
    gate = broadcast(stream(gateway='"gate"', profiles="[]"), auth_webhook='"https://hooks.example.net/"')
    files = files_of(gate)
    assert json.loads(files["streams/main.auth-webhook.json"])["profiles"] == []
    assert "hosts/edge/gate/transcoding.json" not in files


def test_ids_of_manifests_are_letters_and_digits_and_never_clash() -> None:
    names = ["a-b", "ab", "a-1", "a1", "axb", "a-x-b"]
    plans = _plans("".join(stream(name, gateway='"gate"') for name in names))
    ids = [plan.answer.content["manifestID"] for plan in plans.values() if plan.answer]
    assert len(set(ids)) == len(names)
    assert all(found.isalnum() for found in ids)


def test_every_leaf_has_its_place_in_the_spec() -> None:
    def leaves(value: Any, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
        if isinstance(value, dict) and PLACEHOLDER not in value and value:
            return [leaf for key, item in value.items() for leaf in leaves(item, (*place, key))]
        if isinstance(value, list) and value:
            return [leaf for index, item in enumerate(value) for leaf in leaves(item, (*place, index))]
        return [place]

    plans = _plans(WHOLE)
    for plan in plans.values():
        for file in filter(None, (plan.request, plan.answer)):
            assert set(leaves(file.content)) <= set(file.places), (plan.name, file.name)
    places = plans["stage-main"].request.places
    assert places["profiles", 1, "profile"].paths == (("ladders", "live", "profiles", 1, "profile"),)
    assert places["userTags", "rows", 1].paths == (("streams", "stage-main", "userTags", "rows", 1),)
    assert places["recordingSpec", "profiles", 0, "gop"].kind == "given"
    assert plans["plain"].request.places["name",].kind == "default"


def test_nothing_is_null_and_no_default_is_written() -> None:
    for path, text in _files(WHOLE).items():
        if path.startswith("streams/"):
            assert "null" not in text
    assert json.loads(_files(stream())["streams/main.create.json"]) == {"name": "main"}


def test_example_of_everything_is_silent() -> None:
    silent(broadcast(WHOLE))


def test_whatever_text_says_it_stays_text() -> None:
    nasty = '''"a \\"b\\" {{ x }} ${HOME} $(id) <b> \\u00e9 | # \\\\ `x`"'''
    text = stream(name=nasty, userTags=f"{{ '{{{{ y }}}}' = {nasty} }}")
    payload = json.loads(_files(text)["streams/main.create.json"])
    assert payload["name"] == 'a "b" {{ x }} ${HOME} $(id) <b> é | # \\ `x`'
    assert payload["userTags"] == {"{{ y }}": payload["name"]}
    assert "<b>" not in _files(text)["FLEET.md"]


@pytest.mark.parametrize(
    ("rate", "pair"),
    [
        ("29.97", "fps = 30000 and fpsDen = 1001"),
        ("23.976", "fps = 24000 and fpsDen = 1001"),
        ("12.5", "fps = 25 and fpsDen = 2"),
    ],
)
def test_frame_rate_with_a_fraction_leads_to_its_two_numbers(rate: str, pair: str) -> None:
    assert f"write {pair}" in printed(broadcast(stream(profiles=listed(rung(fps=rate)))))
    assert f"write {pair}" in printed(broadcast(ladder(rung(fps=rate))))


# ------------------------------------------------------------------------------------------------- what is refused

TARGET = '{ url = { env = "T" } }'
BAD: dict[str, str] = {
    "frame rate with an exponent": stream(profiles=listed(rung(fps="3e6"))),
    "key frames as a number": stream(profiles=listed(rung(gop="2"))),
    "bit rate in kilobits": stream(profiles=listed(rung(bitrate='"3000k"'))),
    "bit rate in kilobits of a ladder": ladder(rung(bitrate='"2.5M"')),
    "ladder without renditions": ladder() + stream(ladder='"live"'),
    "target that names no profile": stream(multistream='{ targets = [{ id = "5a1b" }] }'),
    "target of a profile that is not there": stream(multistream='{ targets = [{ profile = "1080p", id = "5a1b" }] }'),
    "id and spec": stream(multistream=f'{{ targets = [{{ profile = "source", id = "5a1b", spec = {TARGET} }}] }}'),
    "recordingSpec without record": stream(recordingSpec="{}"),
    "stream key": stream(streamKey='"hunter22-hunter22"'),
    "playback id": stream(playbackId='"5a1b"'),
    "mobile source of a kind that is not there": stream(pull='{ source = "https://a.example/x", isMobile = 3 }'),
    "latitude": stream(pull='{ source = "https://a.example/x", location = { lat = 91, lon = 0.5 } }'),
    "origin with a path": stream(playbackPolicy='{ type = "jwt", allowedOrigins = ["https://a.example/player"] }'),
    "origin with a slash": stream(playbackPolicy='{ type = "jwt", allowedOrigins = ["https://a.example/"] }'),
    "any origin": stream(playbackPolicy='{ type = "jwt", allowedOrigins = ["*"] }'),
    "tag that is a date": stream(userTags="{ day = 2026-11-21 }"),
    "tag that is true": stream(userTags="{ live = true }"),
    "policy in capitals": stream(playbackPolicy='{ type = "Public" }'),
    "codec of recordings": stream(profiles=listed(rung(encoder='"HEVC"'))),
    "quality": stream(profiles=listed(rung(quality="45"))),
    "true for a number": stream(profiles=listed(rung(fps="true"))),
    "key with another spelling": stream(playback_policy='{ type = "public" }'),
    "inline header": stream(pull='{ source = "https://a.example/x", headers = { X-Key = "hunter22" } }'),
    "credentials in a source": stream(pull='{ source = "https://user:hunter22@a.example/x" }'),
    "address of a target": stream(
        multistream='{ targets = [{ profile = "source", spec = { url = "rtmp://a.example/live/hunter22" } }] }'
    ),
    "file of a host": stream(pull='{ source = { host_file = "/etc/source" } }'),
    "ladder and profiles": ladder(rung()) + stream(ladder='"live"', profiles="[]"),
    "unknown ladder and gateway": stream(ladder='"lvie"', gateway='"gaet"') + ladder(rung()),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_with_its_place_and_what_to_write(name: str, snapshot: SnapshotAssertion) -> None:
    shown = printed(broadcast(BAD[name]))
    assert "error[" in shown
    assert "--> fleet.toml:" in shown
    assert " = help: " in shown
    assert "hunter22" not in shown
    assert shown == snapshot


@pytest.mark.parametrize("key", SERVER_OWNED)
def test_fields_of_the_service_are_refused_whatever_they_hold(key: str) -> None:
    for value in ('"x"', "1", "true", "[]", "{}"):
        shown = printed(broadcast(stream(**{key: value})))
        assert f"error[assigned-by-service]: only the service sets {key}" in shown


def test_repaired_specs_are_silent() -> None:
    silent(broadcast(stream()))
    silent(broadcast(stream(profiles=listed(rung(fps="30", gop='"2"')))))
    silent(broadcast(stream(userTags='{ day = "2026-11-21", live = "true" }')))
    silent(
        broadcast(stream(pull='{ source = "https://a.example/x", isMobile = 2, location = { lat = 90, lon = 180 } }'))
    )


def test_key_of_a_stream_is_hidden_in_any_spelling() -> None:
    for key in ("stream_key", "streamkey", "StreamKey", "stream-key"):
        assert "hunter22" not in printed(broadcast(stream(**{key: '"hunter22-hunter22"'})))


def test_facts_are_those_of_the_service() -> None:
    assert [(r["name"], r["width"], r["height"], r["bitrate"], r["fps"]) for r in DEFAULT_PROFILES] == [
        ("240p0", 426, 240, 250_000, 0),
        ("360p0", 640, 360, 800_000, 0),
        ("480p0", 854, 480, 1_600_000, 0),
        ("720p0", 1280, 720, 3_000_000, 0),
    ]
    assert NODE_BOUNDS == (146, 50, 4096, 2**31 - 1)
