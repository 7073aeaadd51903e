"""Runs fleetc and counts the tasks that Ansible hands to a worker for each host.

In: a file for the answer, and the words of fleetc. Out: JSON with `runs`, how often Ansible was started, `tasks` by
host, and `events`, what Ansible said about the tasks of one host, by playbook. A skipped task counts like any other:
Ansible decides that in a worker. Not measured: it costs time by itself.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from fleetc.__main__ import main as fleetc
from fleetc.rollout.hosts import runner


def main(answer: str, *words: str) -> None:
    """Run fleetc with these words."""
    tasks: Counter[str] = Counter()
    runs: list[str] = []
    events: dict[str, dict[str, dict[str, Any]]] = {}
    take = runner._Notes.take

    def counting(notes: runner._Notes, data: dict[str, Any]) -> bool:
        if data.get("event") == "runner_on_start":
            tasks[data["event_data"]["host"]] += 1
        if data.get("event") == "playbook_on_start":
            runs.append(data["event_data"]["playbook"])
        told = data.get("event") in ("runner_on_ok", "runner_on_skipped")
        if told and data["event_data"]["host"] == next(iter(tasks)):
            events.setdefault(runs[-1], {})[data["event_data"]["task"]] = data
        return take(notes, data)

    runner._Notes.take = counting  # type: ignore[assignment, method-assign]
    sys.argv[1:] = words
    try:
        fleetc()
    finally:
        Path(answer).write_text(json.dumps({"runs": len(runs), "tasks": tasks, "events": events}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
