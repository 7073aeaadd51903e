"""Puts slots to sleep and wakes them, through the service of the stack that does that for everybody."""

from __future__ import annotations

import time

from ..asking import tell
from ..places import STACK_FILES
from ..system import note
from .parts import containers_of, is_asleep, settings_in

PORT = "9090"
"""Where that service listens if the stack does not say so."""

PATIENCE = 60
"""How many seconds the containers of a slot may take to stop or to start."""


def put_to_sleep(project: str) -> bool:
    """Have a slot sleep; whether it does. One that does not is changed while it runs, as without it."""
    return _ask(project, "sleep")


def wake(project: str) -> bool:
    """Have a slot wake; whether it did."""
    return _ask(project, "wake")


def _ask(project: str, action: str) -> bool:
    """Ask for sleep or wake, and look what came of it: the service answers 200 even if it could do neither."""
    port = settings_in(STACK_FILES + "/host.env").get("ORCHESTRATOR_HEALTH_PORT", PORT)
    status = tell("http://127.0.0.1:" + port, "/power/projects/" + project, {"action": action, "reason": "rollout"})
    end = time.monotonic() + PATIENCE
    while status == 200:
        if is_asleep(containers_of(project)) == (action == "sleep"):
            return True
        if time.monotonic() >= end:
            break
        time.sleep(0.5)
    note("not-" + ("asleep" if action == "sleep" else "awake"), project=project, answer=status)
    return False
