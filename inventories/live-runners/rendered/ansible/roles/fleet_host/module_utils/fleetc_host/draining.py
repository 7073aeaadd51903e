"""Lets orchestrators finish their sessions before they stop.

In: nodes, seconds, and who hears of each. Out: nothing, once their sessions or the time are over.

An orchestrator whose limit of sessions is 1 takes no new stream while it has one, and goes on with those it has. It
never takes a limit of 0. A restart brings its own limit back, so from then on its marker says that it is being started.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable

from .asking import ask
from .nodes import begin_start
from .places import CURRENT
from .processes import may_run
from .releases import release_at, runtime_here, service_in
from .system import note

WORK = re.compile(
    rb"^livepeer_(?:current_sessions_total|ai_container_in_use|ai_current_live_pipelines)(?:\{[^\n]*\})? ([0-9.e+]+)",
    re.M,
)
"""What an orchestrator exports of the work that it does now; a line is missing until there was some."""


def drain(nodes: Iterable[str], seconds: float, told: Callable[[str, str], None]) -> None:
    """Have nodes take no more sessions and wait until theirs are over, all at once, for at most so many seconds.

    Nodes that are no orchestrators are not waited for, nor are those that do not answer. One that does not say how many
    sessions it has is waited for until the time is over.
    """
    waiting = {}
    for node in nodes:
        service = service_in(release_at("%s/%s" % (CURRENT, node)), node) or {}
        health = service.get("health") or {}
        if seconds and health.get("drains") and ask(health["status"], "/status")[0] == 200:
            told("drain", node)
            begin_start(node, runtime_here(node))
            ask(health["status"], "/setMaxSessions", {"maxSessions": "1"})
            waiting[node] = health["status"]
    end = time.monotonic() + seconds
    while waiting:
        for node, where in list(waiting.items()):
            left = work_of(where)
            if left is None and not may_run(node, runtime_here(node)):
                left = 0
            if left == 0 or time.monotonic() >= end:
                note("drained", node=node, sessions="unknown" if left is None else left)
                del waiting[node]
        if waiting:
            time.sleep(1)


def work_of(where: str) -> float | None:
    """How many sessions a node has, AI work included; None if it does not say. One that is busy may not answer."""
    status, body = ask(where, "/metrics")
    if status != 200 or b"\nlivepeer_" not in b"\n" + body:
        return None
    return sum(float(found) for found in WORK.findall(body))
