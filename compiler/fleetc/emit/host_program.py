"""The program that changes hosts, as a part of the tree, and the one function of it that fleetc asks too.

In: the text of a module, which fleetc ships. Out: `steps_in`: what the program does on a host, in order. Plans and
reviews ask it in advance, so that there is no second copy of the conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

HOST_STEPS = "roles/fleet_host/module_utils/fleetc_host/steps.py"
"""The module of it that decides the steps, among the playbooks; it stands alone."""

Steps = Callable[[dict[str, Any] | None, dict[str, Any]], list[dict[str, str]]]
"""The steps from what a host runs (None if unknown) to what it shall run."""


@cache
def steps_in(module: bytes) -> Steps:
    """The function that decides the steps, from the module's text, which fleetc brings itself."""
    space: dict[str, Any] = {"__name__": "fleetc_host.steps"}
    exec(compile(module, HOST_STEPS, "exec"), space)  # noqa: S102  # never a file of a checkout or a recorded tree
    found: Steps = space["steps"]
    return found
