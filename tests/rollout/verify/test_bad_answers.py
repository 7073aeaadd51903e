"""Answers that make no sense, from hosts, nodes and stacks are judged, shown, and never more; unknown is not fine."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.messages.json import as_json
from fleetc.messages.junit import as_junit
from fleetc.messages.locate import locate
from fleetc.messages.text import as_text
from fleetc.online.public import UrlAnswer
from fleetc.pipeline import Compiled
from fleetc.rollout.verify.judge import Verdict
from fleetc.rollout.verify.report import diagnostics_of
from fleetc.rollout.verify.textfile import textfile
from tests.rollout.odd_answers import HUGE, JSON, places, with_other
from tests.rollout.verify.healthy import World
from tests.support import compiled_example, example_sources

FLEETS = ("dual-onchain", "avatar-stage", "ai-split")
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e\ud800 {{ 7 * 7 }}\r\n"
TEXTS = st.sampled_from(
    ["", "<html>", "[" * 100_000, "1" * 100_000, '{"error": "no"}', f'{{"error": "{ESCAPES}"}}', ESCAPES, "NaN", "1e9"]
)  # fmt: skip


def shown(fleet: str, compiled: Compiled, world: World) -> Verdict:
    """All that is done with answers: they are judged, and told in every form."""
    verdict = world.judged()
    found = diagnostics_of(verdict.findings)
    sources = example_sources(fleet)
    located = locate(found, sources, compiled.checked.document)
    texts = [as_text(located), as_json(located), as_junit(located, sources), textfile(world.blueprint, (), verdict, 0)]
    texts += [fact.text for fact in verdict.facts]
    for text in texts:
        assert not {"\x1b", "\x07", "\u202e", "\ud800"} & set(text)
    assert all(len(one.message) < 3000 for one in verdict.findings)
    assert all(len(fact.text) < 200 for fact in verdict.facts)
    return verdict


@given(st.sampled_from(FLEETS), st.data())
def test_no_answer_of_a_host_breaks_anything(fleet: str, data: st.DataObject) -> None:
    compiled = compiled_example(fleet)
    world = World(compiled)
    host = data.draw(st.sampled_from(sorted(world.hosts)))
    path = data.draw(st.sampled_from([path for path in places(world.hosts[host]) if path]))
    world.hosts[host] = with_other(world.hosts[host], path, data.draw(JSON))
    shown(fleet, compiled, world)


@given(st.sampled_from(FLEETS), st.booleans(), st.data())
def test_no_answer_of_a_node_breaks_anything(fleet: str, documented: bool, data: st.DataObject) -> None:
    compiled = compiled_example(fleet)
    world = World(compiled, documented)
    name = data.draw(st.sampled_from(sorted(world.answers)))
    status, body = world.answers[name]
    inner = [path for path in places(body) if path]
    changes_part: bool = data.draw(st.booleans())
    if inner and changes_part:
        world.answers[name] = (status, with_other(body, data.draw(st.sampled_from(inner)), data.draw(JSON)))
    else:
        world.answers[name] = (status or 200, data.draw(TEXTS | JSON))
    shown(fleet, compiled, world)


@pytest.mark.parametrize("what", HUGE)
def test_huge_and_odd_values_everywhere(what: str) -> None:
    compiled = compiled_example("dual-onchain")
    for path in [path for path in places(World(compiled).hosts["gpu"]) if path]:
        world = World(compiled)
        world.hosts["gpu"] = with_other(world.hosts["gpu"], path, HUGE[what])
        shown("dual-onchain", compiled, world)


@pytest.mark.parametrize("body", ["", "<html></html>", "[" * 100_000, "1" * 100_000, ESCAPES, '"text"', "[]", "null"])
def test_a_node_that_answers_nonsense_to_everything_is_unknown(body: str) -> None:
    compiled = compiled_example("dual-onchain")
    world = World(compiled)
    for name in world.answers:
        if "healthz" not in name:
            world.answers[name] = (200, body)
    verdict = shown("dual-onchain", compiled, world)
    assert {"gate", "orch"} <= {one.node for one in verdict.findings if one.kind == "unknown"}


@pytest.mark.parametrize("status", [0, 100, 204, 302, 401, 404, 500, 999])
def test_a_node_that_answers_nothing_is_unknown(status: int) -> None:
    world = World(compiled_example("dual-onchain"))
    for name in world.answers:
        world.answers[name] = (status, "reason")
    verdict = world.judged()
    assert {"gate", "orch"} <= {one.node for one in verdict.findings if one.kind == "unknown"}
    assert verdict.exit_code in (1, 4)


ODD: dict[str, Any] = {
    "nothing": None, "a text": "yes", "a list": [], "an empty object": {}, "another format": {"format": 2, "ok": True},
    "a refusal": {"format": 1, "ok": False, "message": "no"}, "ok without more": {"format": 1, "ok": True},
    "a state that is none": {"format": 1, "ok": True, "state": []},
    "a state without anything": {"format": 1, "ok": True, "state": {"x": 1}, "steps": "keep", "answers": []},
    "infinity": {"format": 1, "ok": True, "state": {"processes": [math.inf], "fleet": [], "host": {}}, "steps": [None]},
}  # fmt: skip


@pytest.mark.parametrize("what", ODD)
def test_a_host_that_answers_nonsense_is_unknown(what: str) -> None:
    compiled = compiled_example("dual-onchain")
    world = World(compiled)
    world.hosts = dict.fromkeys(world.hosts, ODD[what])
    verdict = shown("dual-onchain", compiled, world)
    assert {one.host for one in verdict.findings if one.kind == "unknown"} == {"edge", "gpu"}
    assert verdict.exit_code == 4


@pytest.mark.parametrize("said", ["", "no", "[]", "[" * 100_000, "1", None, {}, {"an id": {"status": 200}}])
def test_answers_that_make_no_sense_are_none(said: object) -> None:
    world = World(compiled_example("dual-onchain"))
    for host in world.hosts.values():
        host["answers"] = said
    assert {"gate", "orch"} <= {one.node for one in world.judged().findings if one.kind == "unknown"}


def test_public_answers_are_shown_as_they_may_be() -> None:
    compiled = compiled_example("dual-onchain")
    world = World(compiled)
    for answer, code in ((UrlAnswer(999), 1), (UrlAnswer(0, ESCAPES), 4), (UrlAnswer(0, ESCAPES, refused=True), 1)):
        for place in world.places:
            world.public[place.url] = answer
        assert shown("dual-onchain", compiled, world).exit_code == code


def test_the_body_of_an_answer_is_read_to_a_limit() -> None:
    world = World(compiled_example("dual-onchain"))
    (name,) = world.ids("orch", "/status")[:1]
    world.answers[name] = (200, json.dumps({"x": "y" * 10_000_000, "Version": "0.9.1"}))
    assert ("unknown", "not-answered", "orchestrators.orch") in world.found()
