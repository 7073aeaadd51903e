"""Shows a running rollout: a live line on a terminal, plain lines elsewhere.

In: events of the runner. Out: text on the stream it was given. Used by `cli/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from fleetc.rollout.hosts import verify
from fleetc.rollout.hosts.gate import ACTIVATE, BEGIN, END, OBSERVE, STAGE, reason_in
from fleetc.rollout.hosts.runner import Event
from fleetc.text.encoders import plain_output

_DID = {
    (BEGIN, "failed"): "cannot take part",
    (STAGE, "changed"): "has the release",
    (STAGE, "failed"): "did not get the release",
    (ACTIVATE, "changed"): "switched to the release, and is well",
    (ACTIVATE, "failed"): "is not well with the release, or did not switch",
    (END, "changed"): "ended its switch",
    (END, "failed"): "did not keep the release",
    (OBSERVE, "failed"): "did not report what it runs",
    (verify.TASK, "failed"): "did not answer",
}
"""The last step of a host, by task and result; details are in the report."""


def words_of(event: Event) -> str:
    """An event of a host, for people."""
    if event.kind == "unreachable":
        return plain_output(f"{event.host}: {reason_in(event.kind, event.message)}")
    did = _DID.get((event.task, event.kind)) or f"{event.kind}: {event.task}"
    return plain_output(f"{event.host}: {did}")


@contextmanager
def progress(stream: TextIO, hosts: bool = True) -> Iterator[Callable[[Event], None]]:
    """A function that takes events; on a terminal it keeps one line up to date: the task and what it did so far.

    With `hosts`, hosts that fail and change have lines of their own, at once.
    """
    if not stream.isatty():
        yield lambda event: _plain(stream, event) if hosts or event.kind == "warning" else None
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(file=stream)
    counts = {"ok": 0, "changed": 0, "failed": 0, "unreachable": 0, "skipped": 0}
    with console.status("connecting") as status:

        def show(event: Event) -> None:
            if event.kind == "task":
                tally = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count and kind != "skipped")
                status.update(escape(plain_output(f"{event.task} ({tally or 'starting'})")))
                return
            if event.kind == "warning":
                console.print(escape(plain_output(f"warning: {event.message}")), style="yellow")
                return
            counts[event.kind] += 1
            if hosts and event.kind in ("failed", "unreachable"):
                console.print(escape(words_of(event)), style="red")

        yield show


def _plain(stream: TextIO, event: Event) -> None:
    if event.kind == "warning":
        stream.write(plain_output(f"warning: {event.message}") + "\n")
    if event.kind in ("changed", "failed", "unreachable"):
        stream.write(words_of(event) + "\n")
        stream.flush()
