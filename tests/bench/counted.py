"""Runs fleetc and counts the tasks that Ansible hands to a worker for each host.

In: a file for the answer, and the words of fleetc. Out: JSON with `runs`, how often Ansible was started, `tasks` by
host, `waits`, how often each batch waited for health, and `events`, what Ansible said about the tasks of one host, by
playbook. A skipped task counts like any other: Ansible decides that in a worker. Not measured: it costs time by itself.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from fleetc.__main__ import main as fleetc
from fleetc.rollout.hosts import events as events_of_runs
from fleetc.rollout.hosts.gate import ACTIVATE

_ENDS = ("runner_on_ok", "runner_on_failed", "runner_on_unreachable")


class Waits:
    """Counts how often a batch waits for health, by the order of events: hosts that wait at the same time are one wait,
    and a host that begins once another one has ended waits after it.
    """

    def __init__(self) -> None:
        self.count = 0
        self._turn: dict[str, int] = {}
        self._ended = 0

    def take(self, data: dict[str, Any]) -> None:
        """Take note of an event of ansible_runner."""
        details = data.get("event_data", {})
        if details.get("task") != ACTIVATE:
            return
        if data.get("event") == "runner_on_start":
            turn = self._turn[details["host"]] = self._ended + 1
            self.count = max(self.count, turn)
        elif data.get("event") in _ENDS:
            self._ended = max(self._ended, self._turn[details["host"]])


def main(answer: str, *words: str) -> None:
    """Run fleetc with these words."""
    tasks: Counter[str] = Counter()
    runs: list[str] = []
    waits: list[Waits] = []
    events: dict[str, dict[str, dict[str, Any]]] = {}
    take = events_of_runs.Notes.take

    def counting(notes: events_of_runs.Notes, data: dict[str, Any]) -> bool:
        if data.get("event") == "runner_on_start":
            tasks[data["event_data"]["host"]] += 1
        if data.get("event") == "playbook_on_start":
            runs.append(data["event_data"]["playbook"])
            waits.append(Waits())
        if waits:
            waits[-1].take(data)
        told = data.get("event") in ("runner_on_ok", "runner_on_skipped")
        if told and data["event_data"]["host"] == next(iter(tasks)):
            events.setdefault(runs[-1], {})[data["event_data"]["task"]] = data
        return take(notes, data)

    events_of_runs.Notes.take = counting  # type: ignore[assignment, method-assign]
    sys.argv[1:] = words
    try:
        fleetc()
    finally:
        waited = [batch.count for batch in waits if batch.count]
        found = {"runs": len(runs), "tasks": tasks, "waits": waited, "events": events}
        Path(answer).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
