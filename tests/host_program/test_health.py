"""How long a host waits for its nodes: minutes on a clock that only moves while the program sleeps."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.host_program.program import loaded

DEADLINE, STABLE = 180.0, 30.0
Facts = Callable[[float], tuple[int, int, str]]


def waited(
    root: Path, facts: Facts, *, stable: float = STABLE, watched: Callable[..., str] = lambda *_: ""
) -> tuple[list[str], float]:
    """What is wrong in the end, and after how many seconds; `facts` are pid, restarts and illness by time.

    `watched` says what is wrong with a stack, and may take its time on the clock.
    """
    program, now = loaded(root), [0.0]
    clock = {"monotonic": lambda: now[0], "sleep": lambda seconds: now.__setitem__(0, now[0] + seconds)}

    def facts_of(*_: Any) -> dict[str, Any]:
        pid, restarts, _ill = facts(now[0])
        return {"gate": {"running": pid > 0, "pid": pid, "restarts": restarts}}

    def ill(_service: Any, _runtime: str, pid: int) -> str:
        return facts(now[0])[2] if pid else "gate does not run"

    program |= {"time": SimpleNamespace(**{**vars(time), **clock}), "facts_of": facts_of, "unwell": ill}
    program["watch_stack"] = lambda *words: (watched(now, *words), {})
    wanted = {"services": [{"name": "gate"}], "stack": None, "runtime": "systemd"}
    return program["healthy"](wanted, DEADLINE, stable, lambda *_: None), now[0]


CASES: dict[str, tuple[Facts, list[str], float, float]] = {
    "well": (lambda at: (7, 0, ""), [], 30, 32),
    "starts slowly": (lambda at: (7, 0, "" if at > 100 else "gate answers nothing to /healthz"), [], 130, 134),
    "well at the last moment": (lambda at: (7, 0, "" if at > 178 else "gate is ill"), [], 208, 212),
    "dies after 12 s for good": (
        lambda at: (7 if at < 12 else 0, 0, ""), ["gate does not run"], 180, 182,
    ),
    "dies every 12 s": (lambda at: (7 + int(at // 12), int(at // 12), ""), ["gate ended 3 times"], 36, 38),
    "dies once after 12 s": (lambda at: (7 if at < 12 else 8, 0 if at < 12 else 1, ""), [], 42, 45),
    "is never well": (lambda at: (7, 0, "gate answers 503 to /healthz"), ["gate answers 503 to /healthz"], 180, 182),
    "is well now and then": (
        lambda at: (7, 0, "" if at % 20 < 15 else "gate asks 1 wei"), ["gate asks 1 wei"], 180, 212,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_how_long_a_node_is_waited_for(tmp_path: Path, name: str) -> None:
    facts, problems, least, most = CASES[name]
    found, seconds = waited(tmp_path, facts)
    assert found == problems
    assert least <= seconds <= most


def test_other_process_each_time_is_not_well(tmp_path: Path) -> None:
    """Nobody counts its restarts, but it is another process again and again."""
    found, seconds = waited(tmp_path, lambda at: (7 + int(at // 12), 0, ""))
    assert found == ["its processes are not the same for 30 seconds on end"] and seconds >= DEADLINE + STABLE


def test_process_that_ends_while_it_is_looked_at_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel then says that there is no such process: a crash in that moment is no failure of the switch."""
    program = loaded(tmp_path)

    def gone(path: str, *_: Any) -> Any:
        raise ProcessLookupError(errno.ESRCH, "No such process", path)

    monkeypatch.setattr("builtins.open", gone)
    assert program["read"]("/proc/1102/environ") is None
    assert program["drift_of_process"](1102, {"name": "gate"}, "/nowhere", "systemd") == []


def test_stack_that_answers_late_is_waited_for_within_the_deadline(tmp_path: Path) -> None:
    looks = []

    def slow(now: list[float], _stack: Any, seconds: float = 5) -> str:
        looks.append(seconds)
        now[0] += min(seconds, 25)
        return "" if seconds >= 25 else "orchestrator-health does not answer"

    found, _ = waited(tmp_path, lambda at: (7, 0, ""), watched=slow)
    assert found == [] and looks[0] == 5 and len(looks) >= 4, "it is seen well more than once"
    found, seconds = waited(tmp_path, lambda at: (7, 0, "gate is ill"), watched=slow)
    assert found == ["gate is ill"] and DEADLINE <= seconds <= DEADLINE + 30
