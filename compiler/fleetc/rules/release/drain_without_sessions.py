"""A rollout waits for sessions of an orchestrator that does not say how many it has.

Why: with `drain`, an orchestrator restarts when its sessions are over. It only says how many it has in its metrics. Of
one without metrics nobody knows, so every rollout waits for all the time that `drain` gives.

Example:

    [rollout]
    drain = "10m"

    [orchestrators.orch]
    monitor = false

Instead:

    [orchestrators.orch]
    monitor = true
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the orchestrators of a fleet whose rollouts wait for sessions."""
    if fleet.rollout.drain is None:
        return
    for name, orchestrator in sorted(fleet.orchestrators.items()):
        if orchestrator.monitor is not True:
            yield warning(
                "drain-without-sessions",
                f"orchestrator {name} does not say how many sessions it has, so each of its restarts waits for "
                f"{fleet.rollout.drain}",
                Label(("rollout", "drain"), "is waited for to the end"),
                [Label(("orchestrators", name), "exports no metrics")],
                help=f"write monitor = true into orchestrators.{name}",
            )
