"""Runners that load longer than a rollout waits."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, renting, runner, silent

CODE = "runner-slower-than-deadline"


def loading(time: str, deadline: str = "") -> str:
    rollout = f'\n[rollout]\ndeadline = "{deadline}"\n' if deadline else ""
    return renting(runner(ready_within=f'"{time}"')) + rollout


def test_deadline_of_the_spec_and_by_default(snapshot: SnapshotAssertion) -> None:
    assert flagged(loading("10m", "5m"), CODE) == snapshot
    assert 'write deadline = "11m"' in flagged(loading("10m"), CODE)
    silent(loading("10m", "11m"))


def test_as_long_as_the_deadline_is_enough() -> None:
    silent(loading("3m"))
    flagged(loading("181s"), CODE)


def test_a_runner_whose_health_no_rollout_asks_only_has_to_run() -> None:
    silent(renting(runner(ready_within='"10m"', health='"http://edge.example.net:8989/up"')))
