"""What a run of Ansible reports: its events while it runs, and its result.

In: events of ansible_runner. Out: an `Event` for each that counts, and a `RunResult` at the end.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

_MESSAGE_LIMIT = 2000

_AS_ROOT = "fleetc has to be root there: {}, or log in as root"
_WORDS = (
    ("sudo[^\n]*not found|No such file[^\n]*sudo", _AS_ROOT.format("it has no sudo, so install that")),
    (
        "sudo: |sudo password|sudoers|become success|privilege escalation",
        _AS_ROOT.format("its login user must be able to use sudo without a password (NOPASSWD in sudoers)"),
    ),
    ("interpreter.*not found|python[0-9.]*: (command )?not found", "it has no Python; install python3, 3.9 or newer"),
    ("Module result deserialization|MODULE FAILURE", "fleetc's program did not answer there"),
)
"""What keeps the program on a host from starting, by what Ansible prints of it, in words for people."""

BROKE_OFF = "Ansible was ended here in the middle of it: by a person, or by the system, as for lack of memory"


class Event(NamedTuple):
    """An event: `kind` is start, waits, ok, changed, skipped, failed or unreachable.

    Of no host are warning, note, batch and ended, which is the end of a run. `answer` is what a host said that waits or
    failed.
    """

    kind: str
    host: str
    task: str
    message: str
    answer: Mapping[str, Any] = {}


INTERRUPTED = Event("note", "", "", "interrupted: fleetc closes its connections, which may take some seconds")


@dataclass(frozen=True, slots=True)
class RunResult:
    """What the runner reported.

    `stats` is None when Ansible never got to the end; then `last_words` has the end of what it printed. `answers` are
    what the tasks that were asked for returned, by host and task, also where they failed; `received` is when, in
    seconds of the clock here.
    """

    status: str
    rc: int | None
    stats: Mapping[str, Mapping[str, int]] | None
    failures: tuple[Event, ...] = ()
    changed: tuple[str, ...] = ()
    last_words: tuple[str, ...] = ()
    answers: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)


class Notes:
    """What the events of one run said."""

    def __init__(self, on_event: Callable[[Event], None], tasks: Collection[str], values: Path) -> None:
        self._on_event, self._asked, self._values = on_event, tasks, values
        self._failures: list[Event] = []
        self._changed: list[str] = []
        self._answers: dict[str, dict[str, Mapping[str, Any]]] = {}
        self.stats: dict[str, Mapping[str, int]] = {}
        self.begun = False
        """Whether it got to a task: what it printed until then says why it did not."""

    def take(self, data: dict[str, Any]) -> bool:
        """Take note, and keep the runner from writing the event to disk."""
        if data.get("event") != "verbose":  # a printed line: Ansible may warn before it reads its variables
            self._values.unlink(missing_ok=True)
        if data.get("event") == "playbook_on_stats":
            self.stats.update({kind: hosts for kind, hosts in data["event_data"].items() if isinstance(hosts, dict)})
        event = _event(data)
        if event is not None:
            self.begun = True
            if event.kind in ("ok", "changed", "failed", "waits") and event.task in self._asked:
                answer = data["event_data"].get("res") or {}
                known = self._answers.setdefault(event.host, {})
                if "format" in answer or event.task not in known:  # what it said before its program hung stays known
                    known[event.task] = {**answer, "received": time.time()}
            if event.kind in ("failed", "unreachable"):
                self._failures.append(event)
            if event.kind == "changed":
                self._changed.append(f"{event.host}: {event.task}")
            self._on_event(event)
        return False

    def canceled(self) -> RunResult:
        """What was known when a person interrupted the run. Hosts may be in the middle of a change."""
        return replace(self.result("canceled", None, ()), stats=None)

    def result(self, status: str, rc: int | None, last_words: tuple[str, ...]) -> RunResult:
        """All of it, at the end."""
        failures, changed = tuple(self._failures), tuple(self._changed)
        return RunResult(status, rc, self.stats or None, failures, changed, last_words, self._answers)


def _event(data: dict[str, Any]) -> Event | None:
    details = data.get("event_data") or {}
    host, task = str(details.get("host", "")), str(details.get("task", ""))
    result = details.get("res") or {}
    name = data.get("event")
    if name == "runner_on_start":
        return Event("start", host, task, "")
    if name == "runner_retry":
        return Event("waits", host, task, "", result)
    if name == "runner_on_ok":
        return Event("changed" if result.get("changed") else "ok", host, task, "")
    if name == "runner_on_skipped":
        return Event("skipped", host, task, "")
    if name in ("runner_on_failed", "runner_on_unreachable"):
        kind = "unreachable" if name == "runner_on_unreachable" else "failed"
        if kind == "failed" and details.get("ignore_errors"):
            return None
        return Event(kind, host, task, _message(result), result)
    return None


def _message(result: dict[str, Any]) -> str:
    if "timedout" in result:
        return f"its program did not answer for {result['timedout']['period']} s"
    parts = [str(result[key]) for key in ("msg", "stderr") if result.get(key)]
    printed = "\n".join([*parts, str(result.get("module_stderr", ""))])
    known = (words for pattern, words in _WORDS if "format" not in result and re.search(pattern, printed))
    if words := next(known, ""):
        own = str(result.get("module_stderr", "")).split("\n")  # what the host says, without what Ansible makes of it
        return f"{words}: {own[0]}" if words == _WORDS[-1][1] and own[0] else words
    parts += [
        str(item["msg"])
        for item in result.get("results", [])
        if isinstance(item, dict) and item.get("failed") and item.get("msg")
    ]
    return "\n".join(dict.fromkeys(part.strip() for part in parts))[:_MESSAGE_LIMIT]
