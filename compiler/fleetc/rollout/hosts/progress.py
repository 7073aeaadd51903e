"""Shows a running rollout: each line with its time and batch, and what hosts wait for.

In: events of the runner. Out: text on the stream it was given. On a terminal, what hosts wait for is a live list;
elsewhere it is a line every ten seconds. Used by `cli/`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, TextIO

from fleetc.rollout.hosts import verify
from fleetc.rollout.hosts.events import Event
from fleetc.rollout.hosts.gate import (
    ACTIVATE,
    BEGIN,
    END,
    LET_GO,
    OBSERVE,
    STAGE,
    reason_in,
    told_wait,
    waits_in,
    why_in,
)
from fleetc.text.counting import first_of
from fleetc.text.encoders import plain_output

_DID = {
    (BEGIN, "failed"): "cannot take part",
    (STAGE, "changed"): "has the release",
    (STAGE, "failed"): "did not get the release",
    (ACTIVATE, "changed"): "switched to the release, and is well",
    (ACTIVATE, "failed"): "did not switch, or did not keep the release",
    (END, "changed"): "ended its switch",
    (END, "failed"): "did not keep the release",
    (OBSERVE, "failed"): "did not report what it runs",
    (verify.TASK, "failed"): "did not answer",
}
"""The last step of a host, by task and result; details are in the report."""

_DOES = {
    BEGIN: "looks what there is to do",
    STAGE: "gets the release",
    ACTIVATE: "switches to the release",
    END: "keeps the release or goes back",
    OBSERVE: "looks what it runs",
    LET_GO: "lets other rollouts in",
    verify.TASK: "looks what it runs",
}
"""What a host does that has not answered yet, by task."""

_EVERY_SECONDS, _LOOK_SECONDS = 10.0, 1.0
_SILENT_SECONDS = 15.0
"""After how long without an answer a host is called silent: it answers every 8 seconds."""
_NAMED, _SHOWN = 6, 20
"""How many hosts one line names, and how many lines a terminal shows."""


def words_of(event: Event) -> str:
    """An event of a host, for people."""
    if event.kind == "unreachable":
        return plain_output(f"{event.host}: {reason_in(event.kind, event.message)}")
    did = _DID.get((event.task, event.kind)) or f"{event.kind}: {event.task}"
    why = why_in(event.answer) or (event.message if "timedout" in event.answer else "")
    return plain_output(f"{event.host}: {did}{': ' if why else ''}{why}")


class _Wait(NamedTuple):
    """What a host waits for, since when, for how many seconds at most, and when it said that; 0.0 if it did not."""

    words: str
    since: float
    limit: float = 0.0
    heard: float = 0.0

    def told(self, now: float) -> str:
        """In words."""
        if self.heard and now - self.heard >= _SILENT_SECONDS:
            before = told_wait(self.words, self.heard - self.since, self.limit)
            return f"no answer for {now - self.heard:.0f} s; before that: {before}"
        return told_wait(self.words, now - self.since, self.limit)


@dataclass(slots=True)
class _Log:
    """What was heard of a rollout. Threads share it."""

    write: Callable[[str, str], None]  # takes a line and its style
    hosts: bool
    batch: str = ""
    waiting: dict[str, _Wait] = field(default_factory=dict)
    told: float = 0.0
    lock: threading.RLock = field(default_factory=threading.RLock)

    def hear(self, event: Event) -> None:
        """Take note of an event, and write the line that it is worth."""
        with self.lock:
            now = time.monotonic()
            if event.kind == "batch":
                self.batch = ""
                self.line(f"{event.task}: {event.message}") if event.task else None
                self.batch = event.task
            elif event.kind in ("warning", "note"):
                self.line(f"{'warning: ' if event.kind == 'warning' else ''}{event.message}", "yellow")
            elif event.kind == "ended":
                self.waiting.clear()
            elif event.kind == "start":
                self.told = self.told if self.waiting else now
                self.waiting[event.host] = _Wait(_DOES.get(event.task, event.task), now)
            elif event.kind == "waits":
                words, waited, limit = waits_in(event.answer)
                words = words or _DOES.get(event.task, event.task)
                self.waiting[event.host] = _Wait(words, now - waited, limit, now)
            else:
                self.waiting.pop(event.host, None)
                if self.hosts and event.kind in ("changed", "failed", "unreachable"):
                    self.line(words_of(event), "" if event.kind == "changed" else "red")

    def line(self, text: str, style: str = "") -> None:
        """Write a line with the time and the batch. A rollout goes on where nobody reads it any more."""
        words = (f"{datetime.now(UTC):%H:%M:%SZ}", self.batch, text)
        with suppress(OSError):
            self.write(plain_output("  ".join(filter(None, words))), style)

    def waits(self) -> list[str]:
        """What hosts wait for, those with the same words together."""
        with self.lock:
            same: dict[str, list[str]] = {}
            for host, wait in self.waiting.items():
                same.setdefault(wait.told(time.monotonic()), []).append(host)
        return [plain_output(f"{first_of(hosts, _NAMED)}: {words}") for words, hosts in same.items()]

    def tell_waits(self) -> None:
        """Write what is waited for, if the last time was long ago."""
        with self.lock:
            if self.waiting and time.monotonic() - self.told >= _EVERY_SECONDS - _LOOK_SECONDS:
                self.told = time.monotonic()
                for text in self.waits():
                    self.line(text)


@contextmanager
def progress(stream: TextIO, hosts: bool = True) -> Iterator[Callable[[Event], None]]:
    """A function that takes events. With `hosts`, hosts that fail and change have lines of their own, at once."""
    if not stream.isatty():

        def write(text: str, _style: str) -> None:
            stream.write(text + "\n")
            stream.flush()

        log = _Log(write, hosts)
        with _each_second(log.tell_waits):
            yield log.hear
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(file=stream)
    log = _Log(lambda text, style: console.print(escape(text), style=style or None), hosts)
    with (
        console.status("connecting") as status,
        _each_second(lambda: status.update(escape("\n".join([log.batch or "hosts", *log.waits()[:_SHOWN]])))),
    ):
        yield log.hear


@contextmanager
def _each_second(do: Callable[[], None]) -> Iterator[None]:
    """Do something every second, in a thread of its own, until the end of the block."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(_LOOK_SECONDS):
            do()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
