"""URLs of runners behind which the node cannot put a path."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, renting, runner, silent

CODE = "runner-url-with-query"
ELSEWHERE: dict[str, str | None] = {"host": None, "image": None, "port": None}


def test_path_of_health_behind_a_query(snapshot: SnapshotAssertion) -> None:
    text = renting(runner(url='"http://192.0.2.7:8000/sd3?model=turbo"', **ELSEWHERE))
    assert flagged(text, CODE) == snapshot
    silent(renting(runner(url='"http://192.0.2.7:8000/sd3"', **ELSEWHERE)))


def test_health_at_a_url_of_its_own_is_asked_there() -> None:
    other = {**ELSEWHERE, "health": '"http://192.0.2.7:8000/health"'}
    silent(renting(runner(url='"http://192.0.2.7:8000/sd3?model=turbo"', **other)))
