"""Live runners on GPUs that models, streams and avatar slots use as well."""

from __future__ import annotations

from typing import Any

from fleetc.analysis import capacity
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Severity
from tests.analysis.test_capacity import GIB, Raw, read, spec

GPU: dict[str, Any] = {"model": "RTX 4090", "memory": "24 GiB", "encode_sessions": 8}


def with_runners(gpus: int = 1, *, model: bool = True, **runners: Raw) -> Fleet:
    """The host box with so many GPUs and these live runners, which its orchestrator offers."""
    raw = spec({"gpus": [GPU] * gpus, "runtime": "docker"})
    base: Raw = {"app": "example/app", "host": "box", "image": "example/app:1.0.0", "health": "/health"}
    raw["runners"] = {name: {**base, "port": 9000 + at, **runner} for at, (name, runner) in enumerate(runners.items())}
    raw["orchestrators"]["orch"]["runners"] = [*runners]
    work = {"host": "box", "orchestrator": "orch", "gpus": [0], "models": [{"use": "large", "warm": True}]}
    raw["ai_workers"] = {"w": work} if model else {}
    return read(raw)


def told(fleet: Fleet) -> list[tuple[str, str]]:
    return [(d.code, d.help) for d in capacity.problems(fleet)]


def test_runner_takes_its_memory_and_its_sessions_on_each_of_its_gpus() -> None:
    fleet = with_runners(2, tiles={"gpus": "all", "memory": "4 GiB", "encode_sessions": 3})
    first, second = capacity.capacity(fleet)
    assert (first.memory_used, first.sessions_used) == (18 * GIB, 3)
    assert (second.memory_used, second.sessions_used) == (4 * GIB, 3)
    assert told(fleet) == []


def test_runner_and_model_that_do_not_fit_together_are_refused_with_what_fits() -> None:
    fleet = with_runners(1, tiles={"gpus": [0], "memory": "12 GiB"})
    (found,) = capacity.memory_exceeded(fleet)
    assert "needs 26 GiB" in found.message
    assert any("runner tiles takes 12 GiB" in label.note for label in (found.primary, *found.related))
    elsewhere = with_runners(2, tiles={"gpus": [0], "memory": "12 GiB"})
    ((code, advice),) = told(elsewhere)
    assert (code, "gpus = [1] in " in advice) == ("gpu-memory-exceeded", True)
    both = {"one": {"gpus": [0], "memory": "15 GiB"}, "two": {"gpus": [0], "memory": "12 GiB"}}
    ((_, advice),) = told(with_runners(2, model=False, **both))
    assert "write gpus = [1] in runners.one" in advice
    assert told(with_runners(2, tiles={"gpus": [1], "memory": "12 GiB"})) == []


def test_encode_sessions_of_runners_count_beside_streams() -> None:
    fleet = with_runners(
        1,
        one={"gpus": [0], "memory": "1 GiB", "encode_sessions": 5},
        two={"gpus": [0], "memory": "1 GiB", "encode_sessions": 4},
    )
    (found,) = capacity.sessions_exceeded(fleet)
    assert "9" in found.message
    assert found.severity is Severity.ERROR


def test_memory_of_a_runner_that_nobody_states_is_unknown() -> None:
    assert [code for code, _ in told(with_runners(1, tiles={"gpus": [0]}))] == ["capacity-unknown"]
    assert told(with_runners(1, tiles={})) == []
