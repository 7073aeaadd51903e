"""What counts as a difference between a declared and an observed stream, and what means the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fleetc.language.stream import PLACEHOLDER
from fleetc.stream_api.data import Binding, Report
from fleetc.stream_api.drift import compare
from fleetc.stream_api.normal import same
from fleetc.stream_api.observed import read
from fleetc.upstream.stream_api import DEFAULT_PROFILES
from tests.stream_api.support import Json, judged, planned
from tests.support import ROOT

PAIRS: list[Json] = json.loads((ROOT / "tests/data/stream_drift.json").read_text(encoding="utf-8"))
SMALL = {"name": "A", "width": 640, "height": 360, "bitrate": 800_000, "fps": 30}
LARGE = {"name": "B", "width": 1280, "height": 720, "bitrate": 3_000_000, "fps": 30}


def _profile(row: Any) -> Json:
    if isinstance(row, str):
        return {"A": SMALL, "B": LARGE}[row]
    return {**SMALL, **{key: value for key, value in row.items() if key != "of"}}


def _side(side: Json) -> Json:
    """A side of a pair with its profiles written out."""
    rows = side.get("profiles")
    if rows == "DEFAULT":
        return {**side, "profiles": [dict(row) for row in DEFAULT_PROFILES]}
    return {**side, "profiles": list(map(_profile, rows))} if rows else side


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_pair(pair: Json) -> None:
    declared, observed = _side(pair["declared"]), _side(pair["observed"])
    if declared.get("profiles") == []:
        observed = {"profiles": [], **observed}
    elif "profiles" in declared and "profiles" not in observed:
        observed = {**observed, "profiles": None}
    report = judged(declared, {"name": "main", **observed})
    assert [".".join(map(str, drift.path)) for drift in report.drifts] == pair["drift"]
    assert report.kind == ("drift" if pair["drift"] else "in_sync")


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        ("1", 1, False),
        (0.1, 0.1, True),
        ([1, [True]], [1.0, [True]], True),
        ([1, [True]], [1, [1]], False),
        ({"a": None}, {"a": None}, True),
        ({"a": None}, {}, False),
        (10**30, 10**30 + 1, False),
    ],
)
def test_same(one: Any, other: Any, equal: bool) -> None:
    from fleetc.stream_api.observed import parse_json

    sides = [parse_json(json.dumps(value)) for value in (one, other)]
    assert same(*sides) is equal
    assert same(*reversed(sides)) is equal


def test_double_keeps_what_it_keeps() -> None:
    plan = planned({"userTags": {"n": 0.1}})
    text = '{"name": "main", "userTags": {"n": 0.1000000000000000055511151231257827}}'
    assert compare(plan, read(text)).kind == "in_sync"


# ------------------------------------------------------------------------------------------------------- actions


def _actions(declared: Json, observed: Json) -> dict[str, str]:
    report = judged(declared, {"name": "main", **observed})
    return {str(drift.path[0]): drift.action for drift in report.drifts}


def test_profiles_and_record_wait_while_somebody_sends() -> None:
    changed = {"profiles": [SMALL], "record": True, "suspended": True}
    assert _actions(changed, {"isActive": True}) == {
        "profiles": "patch_when_inactive",
        "record": "patch_when_inactive",
        "suspended": "patch",
    }
    assert _actions(changed, {"isActive": False})["profiles"] == "patch"


def test_recording_waits_only_for_record() -> None:
    declared = {"record": True, "recordingSpec": {"profiles": []}}
    assert _actions(declared, {"isActive": True, "record": True}) == {"recordingSpec": "patch"}
    waiting = _actions(declared, {"isActive": True, "record": False})
    assert waiting == {"record": "patch_when_inactive", "recordingSpec": "patch_when_inactive"}


def test_another_source_needs_another_stream() -> None:
    assert _actions({"pull": {"source": "https://a.example/x"}}, {}) == {"pull": "replace"}


def test_field_that_is_removed_goes_back_to_the_default_but_the_creator_stays() -> None:
    observed = {"userTags": {"a": 1}, "suspended": True, "playbackPolicy": {"type": "jwt"}, "record": True}
    report = judged({}, {"name": "main", "creatorId": {"type": "unverified", "value": "u"}, **observed})
    assert {key: value for step in report.steps for key, value in step.body.items()} == {
        "userTags": {},
        "suspended": False,
        "playbackPolicy": {"type": "public"},
        "record": False,
    }
    assert {drift.action for drift in report.drifts if drift.path[0] == "creatorId"} == {"manual"}
    assert report.notes == ("the service never takes a creatorId away: declare it, or make a new stream",)


# ------------------------------------------------------------------------------------------------------- secrets


def test_values_of_headers_cannot_be_verified_until_they_are_known() -> None:
    stream = {"pull": {"source": {"env": "SOURCE"}, "headers": {"X-Key": {"env": "KEY"}}}}
    observed = {"name": "main", "pull": {"source": "https://a.example/x", "headers": {"X-Key": "hunter22"}}}
    plan, answer = planned(stream), read(json.dumps(observed))
    report = compare(plan, answer)
    assert report.kind == "in_sync"
    assert len(report.notes) == 2
    known = {("env", "SOURCE"): "https://a.example/x", ("env", "KEY"): "hunter22"}
    assert compare(plan, answer, resolved=known).notes == ()
    known["env", "KEY"] = "another"
    (drift,) = compare(plan, answer, resolved=known).drifts
    assert (drift.path, drift.action, drift.secret) == (("pull", "headers", "X-Key"), "replace", True)


def test_header_that_is_missing_or_surplus() -> None:
    stream = {"pull": {"source": "https://a.example/x", "headers": {"X-Key": {"env": "KEY"}}}}
    pull = {"source": "https://a.example/x", "headers": {"X-Other": "hunter22"}}
    report = judged(stream, {"name": "main", "pull": pull})
    assert {drift.path[2]: drift.secret for drift in report.drifts} == {"X-Key": True, "X-Other": True}


def test_capitals_make_no_difference_in_names_of_headers() -> None:
    stream = {"pull": {"source": "https://a.example/x", "headers": {"X-Key": {"env": "KEY"}}}}

    def judge(headers: Json) -> Report:
        return judged(stream, {"name": "main", "pull": {"source": "https://a.example/x", "headers": headers}})

    for spelling in ("x-key", "X-KEY"):
        report = judge({spelling: "hunter22"})
        assert (report.kind, len(report.notes)) == ("in_sync", 1)
    for headers in ({"x-key": "a", "X-Key": "b"}, {"X-Key": "b", "x-key": "a"}, {"x-key": "a", "X-KEY": "b"}):
        (drift,) = judge(headers).drifts
        assert drift.path in (("pull", "headers", "x-key"), ("pull", "headers", "X-KEY"))


def test_placeholder_is_a_plain_key_wherever_no_secret_belongs() -> None:
    request = planned({"userTags": {"a": 1}})
    request.request.content["userTags"] = {PLACEHOLDER: "x"}
    assert compare(request, read('{"name": "main", "userTags": {"$secret": "x"}}')).kind == "in_sync"
    assert compare(request, read('{"name": "main"}')).kind == "drift"


# ------------------------------------------------------------------------------------------------------- targets

NEW = {"profile": "source", "spec": {"url": {"env": "TARGET_URL"}}}
OTHER = {"profile": "source", "spec": {"url": {"env": "OTHER_URL"}}}
BOUND = Binding("source", "env", "TARGET_URL", "t1")


def _targets(declared: list[Json], observed: list[Json], *bindings: Binding) -> Report:
    seen = {"name": "main", "multistream": {"targets": observed}}
    return judged({"multistream": {"targets": declared}}, seen, bindings or None)


def test_bound_target_is_in_sync_and_its_address_unverifiable() -> None:
    report = _targets([NEW], [{"profile": "source", "id": "t1"}], BOUND)
    assert report.kind == "in_sync"
    assert "address of target t1" in report.notes[0]
    assert report.bindings == (BOUND,)


def test_only_target_of_its_kind_needs_no_binding() -> None:
    report = _targets([NEW], [{"profile": "source", "id": "t1"}])
    assert (report.kind, report.bindings) == ("in_sync", (BOUND,))


def test_target_that_was_never_sent_is_sent() -> None:
    report = _targets([NEW], [])
    assert [drift.action for drift in report.drifts] == ["patch"]
    (step,) = report.steps
    assert step.body == {"multistream": {"targets": planned({"multistream": {"targets": [NEW]}}).request.content[
        "multistream"]["targets"]}}  # fmt: skip


def test_target_that_lost_its_place_comes_back_by_its_id() -> None:
    report = _targets([NEW], [], BOUND)
    (step,) = report.steps
    assert step.body == {"multistream": {"targets": [{"profile": "source", "id": "t1"}]}}


def test_several_that_could_be_meant_are_left_to_a_person() -> None:
    seen = [{"profile": "source", "id": "t1"}, {"profile": "source", "id": "t2"}]
    report = _targets([NEW, OTHER], seen)
    assert {drift.action for drift in report.drifts} == {"manual"}
    assert report.steps == ()
    half = _targets([NEW, OTHER], seen, BOUND)
    assert [drift.action for drift in half.drifts] == ["manual", "manual"]
    told = _targets([NEW, OTHER], seen, BOUND, Binding("source", "env", "OTHER_URL", "t2"))
    assert told.kind == "in_sync"


def test_target_that_is_bound_to_another_reference_is_never_meant() -> None:
    report = _targets([OTHER], [{"profile": "source", "id": "t1"}], BOUND)
    assert [drift.action for drift in report.drifts] == ["patch", "patch"]
    (step,) = report.steps
    assert step.body is not None
    assert ["spec" in row for row in step.body["multistream"]["targets"]] == [True]


def test_doubtful_targets_stay_when_others_change() -> None:
    seen = [{"profile": "source", "id": "t1"}, {"profile": "source", "id": "t2"}, {"profile": "720p0", "id": "x"}]
    (step,) = _targets([NEW, OTHER], seen).steps
    assert step.body is not None
    assert [row["id"] for row in step.body["multistream"]["targets"]] == ["t1", "t2"]
