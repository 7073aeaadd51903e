"""Live runners are asked where their orchestrator asks them, and for nothing that only nodes say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rollout.verify.healthy import World
from tests.rules.support import renting, runner
from tests.support import compile_text

TEXT = renting(runner(path='"/v1"', health_status="204"))


def test_a_runner_is_asked_for_its_health_alone() -> None:
    asked = [one for one in World(compile_text(TEXT)).known["edge"] if one.node == "echo"]
    assert [(one.where, one.path) for one in asked] == [("http://127.0.0.1:8989", "/v1/health")]


def test_one_that_answers_otherwise_is_a_difference() -> None:
    world = World(compile_text(TEXT))
    assert not [one for one in world.found() if one[2] == "runners.echo"]
    world.say("echo", "/v1/health", "", status=503)
    assert [one for one in world.found() if one[2] == "runners.echo"] == [("drift", "node-unhealthy", "runners.echo")]
    (one,) = (one for one in world.judged().findings if one.code == "node-unhealthy")
    assert "echo: it answers 503 to /v1/health instead of 204, so its orchestrator hides it" in one.message


def test_one_without_a_path_for_its_health_is_only_known_to_run() -> None:
    text = renting(runner(register_by='"runner"', health=None))
    world = World(compile_text(text))
    assert not [one for one in world.asked["edge"] if one.node == "echo"]
    assert not [one for one in world.found() if one[2] == "runners.echo"]


def offered(world: World, **changes: Any) -> list[tuple[str, str, str]]:
    """What is found where the orchestrator says something else of its runner."""
    name = world.ids("orch", "/discovery")[0]
    status, (entry,) = world.answers[name]
    (echo,) = entry["runners"]
    world.say("orch", "/discovery", [{**entry, "runners": [{**echo, **changes}]}], status)
    return [one for one in world.found() if one[1].startswith("live-runner") or one[1] == "not-answered"]


def test_an_orchestrator_that_offers_what_the_spec_lists_is_as_reviewed() -> None:
    for text in (TEXT, renting(runner(register_by='"runner"', health=None))):
        world = World(compile_text(text))
        assert world.ids("orch", "/discovery") == ["gpu orch http://127.0.0.1:8935/discovery"]
        assert not [one for one in world.found() if "live-runner" in one[1] or one[1] == "not-answered"]


@pytest.mark.parametrize("text", [TEXT, renting(runner(register_by='"runner"', health=None))])
@pytest.mark.parametrize("body", [[{"address": "https://orch.example.net"}], [{"runners": []}], [{"runners": None}]])
def test_one_that_it_does_not_offer_is_a_difference(text: str, body: Any) -> None:
    world = World(compile_text(text))
    world.say("orch", "/discovery", body)
    assert ("drift", "live-runner-not-offered", "orchestrators.orch.runners.0") in world.found()


PRICE = World(compile_text(TEXT)).answers["gpu orch http://127.0.0.1:8935/discovery"][1][0]["runners"][0]["price_info"]


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        (1.09, []),
        (0.91, []),
        (1.11, [("warning", "live-runner-price-moved", "runners.echo.price")]),
        (0.51, [("warning", "live-runner-price-moved", "runners.echo.price")]),
        (2, [("drift", "live-runner-price-differs", "runners.echo.price")]),
        (0.49, [("drift", "live-runner-price-differs", "runners.echo.price")]),
    ],
)
def test_price_may_move_with_the_feed_a_little(factor: float, expected: list[tuple[str, str, str]]) -> None:
    price = {**PRICE, "price": int(PRICE["price"] * factor)}
    assert offered(World(compile_text(TEXT)), price_info=price) == expected


@pytest.mark.parametrize(
    ("changes", "kind", "code", "place"),
    [
        ({"capacity": 7}, "drift", "live-runner-offered-otherwise", "runners.echo"),
        ({"mode": "single-shot"}, "drift", "live-runner-offered-otherwise", "runners.echo"),
        ({"app": "other/app"}, "drift", "live-runner-offered-otherwise", "runners.echo.app"),
        ({"price_info": None}, "drift", "live-runner-price-differs", "runners.echo.price"),
        ({"price_info": {**PRICE, "unit": "fixed"}}, "drift", "live-runner-price-differs", "runners.echo.price"),
        ({"price_info": {**PRICE, "currency": "usd"}}, "unknown", "not-answered", "runners.echo.price"),
        ({"price_info": {**PRICE, "price": []}}, "unknown", "not-answered", "runners.echo.price"),
    ],
)
def test_what_else_it_says_otherwise(changes: dict[str, Any], kind: str, code: str, place: str) -> None:
    assert offered(World(compile_text(TEXT)), **changes) == [(kind, code, place)]


def test_a_runner_of_nobody_is_a_difference_unless_others_may_register() -> None:
    for text, expected in ((renting(runner()), True), (renting(runner(), live_runners="true"), False)):
        world = World(compile_text(text))
        (entry,) = world.answers[world.ids("orch", "/discovery")[0]][1]
        other = {**entry["runners"][0], "url": "https://orch.example.net/apps/by-hand", "app": "some/app\x1b[2J"}
        world.say("orch", "/discovery", [{"runners": [*entry["runners"], other]}])
        found = [one for one in world.judged().findings if one.code == "live-runner-not-in-spec"]
        assert bool(found) is expected
        assert not any("\x1b" in one.message for one in found)


@pytest.mark.parametrize("body", ["<html>", "", [], {}, [1], [{"runners": 3}], [{"runners": ["echo"]}], [{}, {}]])
def test_an_answer_that_makes_no_sense_is_unknown(body: Any) -> None:
    world = World(compile_text(TEXT))
    world.say("orch", "/discovery", body)
    assert ("unknown", "not-answered", "orchestrators.orch") in world.found()


def test_a_price_without_a_rate_is_unknown() -> None:
    world = World(compile_text(TEXT))
    world.fleet = (
        compile_text(renting(runner(path='"/v1"', health_status="204"), rates=False)).checked.fleet or world.fleet
    )
    assert ("unknown", "not-answered", "runners.echo.price") in world.found()
