"""The program that changes hosts, as a part of the tree, and the one function of it that fleetc asks too.

In: its text, which fleetc ships. Out: `steps_in`: what the program does on a host, in order. Plans and reviews ask it
in advance, so that there is no second copy of the conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

HOST_PROGRAM = "roles/fleet_host/files/fleetc_host.py"
"""The program that runs on hosts, among the playbooks."""

Steps = Callable[[dict[str, Any] | None, dict[str, Any]], list[dict[str, str]]]
"""From what a host runs, None where nobody knows, and what it shall run to the steps between."""


@cache
def steps_in(program: bytes) -> Steps:
    """The function that decides the steps, from the program's text, which fleetc brings itself."""
    space: dict[str, Any] = {"__name__": "fleetc_host"}
    exec(compile(program, HOST_PROGRAM, "exec"), space)  # noqa: S102  # never a file of a checkout or a recorded tree
    found: Steps = space["steps"]
    return found
