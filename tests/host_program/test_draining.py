"""Orchestrators that finish their sessions before they stop, on a host with the stand-in node."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

from tests.host_program.test_live import Machine, Make, binary, make, place, pytestmark

__all__ = ["binary", "make", "place", "pytestmark"]


class Draining:
    """A rollout that restarts both nodes, on its way in a thread of its own."""

    def __init__(self, machine: Machine, drain: str, sessions: int, exports: bool = True) -> None:
        self.machine, self._ask = machine, machine.program["ask"]
        if not exports:
            machine.program["ask"] = self._ask_without_metrics
        self.set_sessions(sessions)
        assert '"0.01 ETH"' in machine.spec and "max_sessions = 20" in machine.spec
        spec = machine.spec.replace('"0.01 ETH"', '"0.02 ETH"').replace("max_sessions = 20", "max_sessions = 21")
        self.spec = spec.replace("[rollout]", f'[rollout]\ndrain = "{drain}"' if drain else "[rollout]")
        self.spec = self.spec.replace("max_model_prices", "ignore_max_price_if_needed = true\nmax_model_prices")
        self.before = dict(machine.starts)
        self.switch: dict[str, Any] = {}
        self._thread = threading.Thread(target=self._roll_out)
        self._thread.start()

    def _ask_without_metrics(self, where: str, path: str, *more: Any) -> Any:
        return (404, b"") if path == "/metrics" else self._ask(where, path, *more)

    def _roll_out(self) -> None:
        self.switch = self.machine.roll_out(self.spec)

    def set_sessions(self, count: int) -> None:
        (self.machine.root / "data/orch/standin-sessions").write_text(str(count))

    def wait_for_limit(self) -> None:
        """Wait until the orchestrator takes no more sessions."""
        for _ in range(200):
            if self.machine.says("orch", "/metrics", "livepeer_max_sessions_total") == "1":
                return
            time.sleep(0.02)
        raise AssertionError("the orchestrator takes more sessions")

    def end(self) -> list[dict[str, Any]]:
        """Wait for the end; what the journal says of sessions."""
        self._thread.join(60)
        self.machine.program["ask"] = self._ask
        assert self.switch["phase"] == "healthy", self.switch["reasons"]
        assert sorted(self.switch["restarted"]) == ["gate", "orch"]
        self.machine.is_whole(self.spec)
        assert self.machine.says("orch", "/metrics", "livepeer_max_sessions_total") == "4", "its own limit is back"
        lines = Path(self.machine.program["JOURNAL"]).read_text().splitlines()
        return [line for line in map(json.loads, lines) if line["what"] == "drained"]


def test_orchestrator_restarts_when_its_sessions_are_over(make: Make) -> None:
    rollout = Draining(make(), "5m", sessions=2)
    rollout.wait_for_limit()
    time.sleep(1.5)
    assert rollout.machine.starts == rollout.before, "nothing stops while sessions run, the gateway neither"
    rollout.set_sessions(0)
    (line,) = rollout.end()
    assert (line["node"], line["sessions"]) == ("orch", 0)


def test_orchestrator_restarts_when_the_time_is_over(make: Make) -> None:
    rollout = Draining(make(), "2s", sessions=3)
    (line,) = rollout.end()
    assert (line["node"], line["sessions"]) == ("orch", 3)


def test_orchestrator_that_does_not_say_is_waited_for_to_the_end(make: Make) -> None:
    machine, begun = make(), time.monotonic()
    (line,) = Draining(machine, "3s", sessions=0, exports=False).end()
    assert line["sessions"] == "unknown"
    assert time.monotonic() - begun >= 3


def test_orchestrator_that_is_too_busy_to_answer_is_not_one_without_sessions(make: Make) -> None:
    machine = make()
    asked = machine.program["ask"]
    machine.program["ask"] = lambda where, path, *more: (0, b"") if path == "/metrics" else asked(where, path, *more)
    told: list[str] = []
    begun = time.monotonic()
    machine.program["drain"](["orch"], 2, lambda do, node: told.append(node))
    assert told == ["orch"] and time.monotonic() - begun >= 2
    machine.nodes["orch"].process.kill()
    machine.nodes["orch"].process.wait()
    machine.program["ask"] = lambda where, path, *more: (200, b"") if path == "/status" else (0, b"")
    begun = time.monotonic()
    machine.program["drain"](["orch"], 60, lambda do, node: None)
    assert time.monotonic() - begun < 30, "its process is gone"


def test_without_drain_nothing_waits(make: Make) -> None:
    assert Draining(make(), "", sessions=2).end() == []


def test_node_that_moves_away_finishes_its_sessions(make: Make) -> None:
    """The request says how long they may take: the release that runs may be older than that wish."""
    machine = make()
    (machine.root / "data/orch/standin-sessions").write_text("1")
    answers: list[dict[str, Any]] = []
    asked: dict[str, Any] = {"fleet": "aurora", "host": "edge", "nodes": ["orch"], "lease": 600}
    asked["seconds"] = {"stable": 0, "deadline": 0, "confirm": 60, "drain": 300}
    retiring = threading.Thread(target=lambda: answers.append(machine.ask("retire", **asked)))
    retiring.start()
    time.sleep(1.5)
    assert machine.nodes["orch"].process.poll() is None
    (machine.root / "data/orch/standin-sessions").write_text("0")
    retiring.join(60)
    assert answers[0]["stopped"] == ["orch"] and list(machine.nodes) == ["gate"]
