"""Questions about health that are never answered well."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, renting, runner, silent

CODE = "runner-health-never-true"


def test_loopback_of_another_host(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runner(health='"http://127.0.0.1:8989/health"')), CODE) == snapshot


def test_status_that_no_answer_ends_with(snapshot: SnapshotAssertion) -> None:
    assert flagged(renting(runner(health_status="100")), CODE) == snapshot


def test_host_of_the_runner_or_one_outside_is_fine() -> None:
    silent(renting(runner(health='"http://edge.example.net:8989/health"', health_status="204")))
    silent(renting(runner(health='"https://status.example.net/echo"')))


def test_host_that_has_another_runner() -> None:
    assert "asks host gpu" in flagged(renting(runner(health='"http://203.0.113.20:8989/health"')), CODE)
