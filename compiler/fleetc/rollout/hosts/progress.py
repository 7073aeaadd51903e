"""Shows a running rollout: a live line on a terminal, plain lines elsewhere.

In: events of the runner. Out: text on the stream it was given. Used by `cli/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from fleetc.rollout.hosts.runner import Event
from fleetc.text.encoders import plain_output


@contextmanager
def progress(stream: TextIO) -> Iterator[Callable[[Event], None]]:
    """A function that takes events; on a terminal it keeps one line up to date: the task and what it did so far."""
    if not stream.isatty():
        yield lambda event: _plain(stream, event)
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
            if event.kind in ("failed", "unreachable"):
                console.print(escape(plain_output(f"{event.host}: {event.kind}: {event.task}")), style="red")

        yield show


def _plain(stream: TextIO, event: Event) -> None:
    if event.kind == "warning":
        stream.write(plain_output(f"warning: {event.message}") + "\n")
    if event.kind in ("changed", "failed", "unreachable"):
        stream.write(plain_output(f"{event.host}: {event.kind}: {event.task}") + "\n")
        stream.flush()
