"""Live runners are asked where their orchestrator asks them, and for nothing that only nodes say."""

from __future__ import annotations

from tests.rollout.verify.healthy import World
from tests.rules.support import renting, runner
from tests.support import compile_text

TEXT = renting(runner(path='"/v1"', health_status="204"))


def test_a_runner_is_asked_for_its_health_alone() -> None:
    asked = [one for one in World(compile_text(TEXT)).asked["edge"] if one.node == "echo"]
    assert [(one.where, one.path) for one in asked] == [("http://127.0.0.1:8989", "/v1/health")]


def test_one_that_answers_otherwise_is_a_difference() -> None:
    world = World(compile_text(TEXT))
    assert not [one for one in world.found() if one[2] == "runners.echo"]
    world.say("echo", "/v1/health", "", status=503)
    assert [one for one in world.found() if one[2] == "runners.echo"] == [
        ("drift", "live-runner-unwell", "runners.echo")
    ]
    (one,) = (one for one in world.judged().found if one.code == "live-runner-unwell")
    assert "answers 503 at /v1/health instead of 204" in one.message


def test_one_without_a_path_for_its_health_is_only_known_to_run() -> None:
    text = renting(runner(register_by='"runner"', health=None))
    world = World(compile_text(text))
    assert not [one for one in world.asked["edge"] if one.node == "echo"]
    assert not [one for one in world.found() if one[2] == "runners.echo"]
