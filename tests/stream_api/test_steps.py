"""The requests that fix a stream: their order, and that a service with its habits accepts them and is in sync then.

The service here is the stand-in of support.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.stream_api.data import Binding, Report
from fleetc.stream_api.drift import compare
from fleetc.stream_api.observed import read
from tests.stream_api.support import Json, RefusedError, StandIn, judged, learnt, planned

SMALL = {"name": "A", "width": 640, "height": 360, "bitrate": 800_000, "fps": 30}
LARGE = {"name": "B", "width": 1280, "height": 720, "bitrate": 3_000_000, "fps": 30}


def _row(profile: str, target: str = "x") -> Json:
    return {"profile": profile, "id": target}


def _pushed(profiles: list[Json], *targets: Json) -> Json:
    return {"profiles": profiles, "multistream": {"targets": list(targets)}}


def _bodies(report: Report) -> list[Any]:
    return [step.body for step in report.steps]


def _stored(stream: Json) -> Json:
    return StandIn().create(planned(stream).request.content)


# --------------------------------------------------------------------------------------------------------- order


def test_renamed_profile_that_a_target_uses_takes_three_steps() -> None:
    renamed = {**LARGE, "name": "C"}
    report = judged(
        _pushed([SMALL, renamed], _row("C"), _row("A")), _stored(_pushed([SMALL, LARGE], _row("B"), _row("A")))
    )
    assert _bodies(report) == [
        {"multistream": {"targets": [_row("A")]}},
        {"profiles": [SMALL, renamed]},
        {"multistream": {"targets": [_row("C"), _row("A")]}},
    ]


def test_new_profile_for_a_target_comes_before_it() -> None:
    report = judged(_pushed([SMALL, LARGE], _row("B")), _stored(_pushed([SMALL])))
    assert _bodies(report) == [{"profiles": [SMALL, LARGE]}, {"multistream": {"targets": [_row("B")]}}]


def test_targets_that_do_not_need_the_new_profiles_do_not_wait_for_them() -> None:
    stored = {**_stored(_pushed([SMALL])), "isActive": True}
    report = judged(_pushed([SMALL, LARGE], _row("A")), stored)
    assert [(list(step.body), step.when) for step in report.steps] == [
        (["multistream"], "now"),
        (["profiles"], "inactive"),
    ]


def test_active_stream_waits_with_profiles_record_and_what_hangs_on_them() -> None:
    stored = {**_stored(_pushed([SMALL], _row("A"))), "isActive": True}
    report = judged({**_pushed([LARGE], _row("B")), "record": True, "name": "new"}, stored)
    assert [(list(step.body), step.when) for step in report.steps] == [
        (["name"], "now"),
        (["record"], "inactive"),
        (["multistream"], "inactive"),
        (["profiles"], "inactive"),
        (["multistream"], "inactive"),
    ]


def test_stream_is_switched_off_before_it_changes_and_on_after_it() -> None:
    changed = {"name": "new", "profiles": [SMALL]}
    for suspended, place in ((True, 0), (False, -1)):
        stored = {**_stored(_pushed([LARGE])), "suspended": not suspended}
        steps = judged({**changed, "suspended": suspended}, stored).steps
        assert len(steps) == 3
        assert (steps[place].body, steps[place].when) == ({"suspended": suspended}, "now")


def test_stream_is_switched_on_only_when_all_else_is_done() -> None:
    stored = {**_stored(_pushed([LARGE])), "suspended": True, "isActive": True}
    report = judged({"profiles": [SMALL], "suspended": False}, stored)
    assert [(step.body, step.when) for step in report.steps] == [
        ({"profiles": [SMALL]}, "inactive"),
        ({"suspended": False}, "inactive"),
    ]
    assert {drift.action for drift in report.drifts} == {"patch_when_inactive"}


def test_targets_of_a_renamed_profile_wait_as_their_requests_do() -> None:
    stored = {**_stored(_pushed([LARGE], _row("B"))), "isActive": True}
    report = judged(_pushed([{**LARGE, "name": "C"}], _row("C")), stored)
    assert {step.when for step in report.steps} == {"inactive"}
    assert {drift.action for drift in report.drifts} == {"patch_when_inactive"}


def test_another_source_takes_no_step_because_a_person_makes_the_new_stream() -> None:
    report = judged({"pull": {"source": "https://b.example/x"}}, _stored({"pull": {"source": "https://a.example/x"}}))
    assert ([drift.action for drift in report.drifts], report.steps) == (["replace"], ())


def test_policy_is_cleared_by_a_public_one() -> None:
    stored = _stored({"playbackPolicy": {"type": "jwt"}})
    assert _bodies(judged({}, stored)) == [{"playbackPolicy": {"type": "public"}}]


def test_default_ladder_is_written_out() -> None:
    (body,) = _bodies(judged({}, _stored({"profiles": [SMALL]})))
    assert [row["name"] for row in body["profiles"]] == ["240p0", "360p0", "480p0", "720p0"]


def test_no_profiles_are_an_empty_list() -> None:
    assert _bodies(judged({"profiles": []}, _stored({}))) == [{"profiles": []}]


def test_recordings_are_left_to_the_service_by_an_empty_spec() -> None:
    stored = _stored({"record": True, "recordingSpec": {"profiles": []}})
    assert _bodies(judged({"record": True}, stored)) == [{"recordingSpec": {}}]


def test_what_is_left_of_a_former_recording_goes_with_the_new_one() -> None:
    stored = {**_stored({"record": True, "recordingSpec": {"profiles": []}}), "record": False}
    assert _bodies(judged({"record": True}, stored)) == [{"record": True, "recordingSpec": {}}]


def test_targets_are_cleared_by_an_empty_list() -> None:
    assert _bodies(judged({}, _stored(_pushed([], _row("source")) | {"profiles": []}) | {"profiles": None})) == [
        {"multistream": {"targets": []}}
    ]


@pytest.mark.parametrize(
    ("name", "path"),
    [("a/b", "/stream/a%2Fb"), ("ä?x", "/stream/%C3%A4%3Fx"), ("..a", "/stream/..a"), ("a%2Fb", "/stream/a%252Fb")],
)
def test_id_stays_one_part_of_the_path(name: str, path: str) -> None:
    (step,) = judged({"name": "new"}, {"id": name, "name": "old"}).steps
    assert step.path == path


def test_answer_without_an_id() -> None:
    (step,) = judged({"name": "new"}, {"name": "old"}).steps
    assert step.path == "/stream/{id}"


def test_stand_in_refuses_what_the_steps_avoid() -> None:
    """Without this the laws below would prove nothing."""
    service = StandIn()
    service.create(planned(_pushed([SMALL], _row("A"))).request.content)
    bodies: list[Json] = [
        {"profiles": [LARGE]},
        {"profiles": [LARGE], "multistream": {"targets": [_row("B")]}},
        {"multistream": {"targets": [_row("B")]}},
        {"recordingSpec": {}},
        {"profiles": None},
        {"pull": {"source": "https://a.example/x"}},
        {"streamKey": "x"},
    ]
    for body in bodies:
        with pytest.raises(RefusedError):
            service.patch(dict(body))
    service.stored["isActive"] = True
    with pytest.raises(RefusedError):
        service.patch({"record": True})


# ----------------------------------------------------------------------------------------------------------- laws

_numbers = st.integers(-5, 5) | st.sampled_from([0.5, 1.0, 1e15])
_texts = st.sampled_from(["", "x", "Bühne", "a\nb", '"', "$HOME", "{{ x }}"])
_tags = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), _texts | _numbers | st.lists(_texts | _numbers, max_size=2), max_size=3
)
_context = st.recursive(
    _texts | _numbers | st.booleans(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("pq"), inner, max_size=2),
    max_leaves=4,
)
_origins = st.lists(st.sampled_from(["https://a.example", "https://b.example:8443"]), max_size=2, unique=True)


@st.composite
def _profiles(draw: st.DrawFn, recorded: bool = False) -> list[Json]:
    rows = []
    for name in draw(st.lists(st.sampled_from("ABCD"), max_size=3, unique=True)):
        row: Json = {"name": name, "width": draw(st.sampled_from([128, 640])), "height": 360, "bitrate": 400, "fps": 30}
        more = {
            "fpsDen": st.sampled_from([1, 1001]),
            "quality": st.integers(0, 44),
            "gop": st.sampled_from(["2", "2.0", "intra"]),
            "profile": st.sampled_from(["H264High", "H264ConstrainedHigh"]),
            "encoder": st.sampled_from(["HEVC", "VP9"] if recorded else ["H.264"]),
        }
        row |= draw(st.fixed_dictionaries({}, optional=more))
        rows.append(row)
    return rows


@st.composite
def _policies(draw: st.DrawFn) -> Json:
    kind = draw(st.sampled_from(["public", "jwt", "webhook"]))
    policy: Json = {"type": kind, **({"webhookId": draw(st.sampled_from("vw"))} if kind == "webhook" else {})}
    more = {
        "refreshInterval": st.sampled_from([60, 600, 1.5]),
        "allowedOrigins": _origins,
        "webhookContext": st.dictionaries(st.sampled_from("pq"), _context, max_size=2),
    }
    return policy | draw(st.fixed_dictionaries({}, optional=more))


@st.composite
def _targets(draw: st.DrawFn, names: list[str]) -> list[Json]:
    """New targets get silent video here and existing ones do not, so that there is never doubt which is which."""
    pairs = st.tuples(st.sampled_from(["source", *names]), st.sampled_from(["x", "y", "TARGET_URL", "OTHER_URL"]))
    rows: list[Json] = []
    for profile, end in draw(st.lists(pairs, max_size=4, unique=True)):
        if end.isupper():
            rows.append({"profile": profile, "videoOnly": True, "spec": {"url": {"env": end}}})
        else:
            rows.append({"profile": profile, "id": end, **draw(st.sampled_from([{}, {"videoOnly": False}]))})
    return rows


@st.composite
def streams(draw: st.DrawFn) -> Json:
    """A declared stream that every rule of the API allows."""
    pull = st.fixed_dictionaries(
        {"source": st.sampled_from(["https://a.example/x", "https://b.example/x"])},
        optional={
            "headers": st.sampled_from([{}, {"X-Key": {"env": "KEY"}}]),
            "isMobile": st.sampled_from([0, 1, 2, True, False]),
            "location": st.fixed_dictionaries({"lat": st.sampled_from([1, 52.5]), "lon": st.just(13)}),
        },
    )
    more = {
        "name": _texts,
        "creatorId": st.sampled_from(["u", {"type": "unverified", "value": "v"}]),
        "userTags": _tags,
        "playbackPolicy": _policies(),
        "profiles": _profiles(),
        "record": st.booleans(),
    }
    stream: Json = draw(st.fixed_dictionaries({}, optional=more))
    if draw(st.integers(0, 4)) == 0:
        stream["pull"] = draw(pull)
    if stream.get("record") and draw(st.booleans()):
        stream["recordingSpec"] = draw(st.fixed_dictionaries({}, optional={"profiles": _profiles(recorded=True)}))
    names = [row["name"] for row in stream["profiles"]] if "profiles" in stream else ["240p0", "720p0"]
    if draw(st.booleans()):
        stream["multistream"] = draw(st.fixed_dictionaries({}, optional={"targets": _targets(names)}))
    return stream


_SLOW = settings(suppress_health_check=[HealthCheck.too_slow])


def _report(plan: StreamBlueprint, service: StandIn, bindings: tuple[Binding, ...]) -> Report:
    return compare(plan, read(json.dumps(service.get())), bindings)


@_SLOW
@given(stream=streams())
def test_law_stream_as_made_is_in_sync(stream: Json) -> None:
    service, plan = StandIn(), planned(stream)
    created = service.create(plan.request.content)
    report = _report(plan, service, learnt(plan.request.content, created))
    assert (report.kind, report.drifts, report.steps) == ("in_sync", (), ())


def _nulls(value: Any) -> bool:
    inner: Any = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(_nulls, inner))


@_SLOW
@given(old=streams(), new=streams(), suspended=st.sampled_from([None, True, False]), active=st.booleans())
def test_law_steps_lead_from_any_stream_to_any_other(
    old: Json, new: Json, suspended: bool | None, active: bool
) -> None:
    service, before = StandIn(), planned(old)
    bindings = learnt(before.request.content, service.create(before.request.content))
    service.stored["isActive"] = active
    plan = planned({**new, **({} if suspended is None else {"suspended": suspended})})
    report = _report(plan, service, bindings)
    if any(drift.action == "replace" for drift in report.drifts):
        assert report.steps == (), "a person makes the new stream"
        return
    for step in sorted(report.steps, key=lambda step: step.when == "inactive"):
        if step.when == "inactive":
            service.stored["isActive"] = False
        assert not _nulls(step.body)
        service.send(step)
        bindings += learnt(step.body, service.get())
    after = _report(plan, service, bindings)
    assert {drift.path[0] for drift in after.drifts} <= {"creatorId"} - new.keys(), "the service never takes it away"
    sent = {(b.profile, b.reference) for b in bindings}
    assert service.made == len(service.targets_made) == len(sent), "a new target is sent once"


_OTHER_WORDS = {
    "public": "jwt",
    "jwt": "webhook",
    "webhook": "jwt",
    "H264High": "H264Main",
    "H264ConstrainedHigh": "H264Main",
    "HEVC": "VP8",
    "VP9": "VP8",
    "2": "3",
    "intra": "3",
}
_ADDED = ("id", "isActive", "createdAt", "lastSeen", "renditions", "issues", "isHealthy", "region", "streamKey")


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield from _leaves(item, (*path, key))
    if not isinstance(value, dict | list):
        yield path


def _changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value - 1 if value in (44, 90, 180) else value + 1
    return _OTHER_WORDS.get(value, f"{value}x")


def _expected(path: tuple[str | int, ...], observed: Json) -> tuple[str | int, ...]:
    """Where the drift of a changed leaf is told; profiles and targets stand there by name."""
    if path[:1] == ("profiles",):
        name = observed["profiles"][path[1]]["name"]
        return ("profiles", name) if path[2] == "name" else ("profiles", name, *path[2:])
    if path[:2] == ("multistream", "targets"):
        row = observed["multistream"]["targets"][path[2]]
        label = f"{row['profile']} to {row['id']}"
        return ("multistream", "targets", label, *(["videoOnly"] if path[3] == "videoOnly" else []))
    return path[:2] if "allowedOrigins" in path else path


@_SLOW
@given(stream=streams(), data=st.data())
def test_law_change_of_one_leaf_is_told_by_its_name(stream: Json, data: st.DataObject) -> None:
    service, plan = StandIn(), planned({**stream, "suspended": False})
    bindings = learnt(plan.request.content, service.create(plan.request.content))
    observed = service.get()
    request = plan.request.content
    optional = {
        ("profiles", i, key)
        for i, row in enumerate(observed["profiles"])
        for key in ("quality", "gop", "profile")
        if key not in (request.get("profiles") or [{}] * (i + 1))[i]
    }
    leaves = [
        path
        for path in _leaves(observed)
        if path[0] not in _ADDED
        and path not in optional
        and path[:2] not in (("creatorId", "type"), ("pull", "headers"))
        and path[-1] != "encoder"
    ]
    path = data.draw(st.sampled_from(leaves))
    changed = deepcopy(observed)
    table: Any = changed
    for part in path[:-1]:
        table = table[part]
    table[path[-1]] = "unknown" if path[:1] == ("multistream",) and path[-1] == "profile" else _changed(table[path[-1]])
    if path == ("pull", "isMobile") and type(table["isMobile"]) is int and table["isMobile"] > 2:
        table["isMobile"] = 0
    report = compare(plan, read(json.dumps(changed)), bindings)
    told = {drift.path for drift in report.drifts}
    if path == ("pull", "isMobile") and not table["isMobile"] and not observed["pull"]["isMobile"]:
        return
    assert _expected(path, observed) in told, (path, told)
    assert {p[0] for p in told} == {path[0]}
