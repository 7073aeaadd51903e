"""A rollout drains an orchestrator without metrics.

Why: with `drain`, an orchestrator restarts when its sessions are over. Only its metrics have its number of sessions.
Without metrics, every rollout waits for all of `drain`.

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
from fleetc.text.counting import first_of

_NAMED = 5


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the orchestrators of a fleet whose rollouts wait for sessions."""
    if fleet.rollout.drain is None:
        return
    silent = sorted(name for name, one in fleet.orchestrators.items() if one.monitor is not True)
    if silent:
        who = f"orchestrator {silent[0]} does not" if len(silent) == 1 else f"{len(silent)} orchestrators do not"
        each, they = ("its restarts", "it has") if len(silent) == 1 else ("their restarts", "they have")
        tables = first_of([f"orchestrators.{name}" for name in silent], _NAMED)
        yield warning(
            "drain-without-sessions",
            f"{who} say how many sessions {they}, so each of {each} waits for {fleet.rollout.drain}",
            Label(("rollout", "drain"), "is waited for to the end"),
            [Label(("orchestrators", name), "exports no metrics") for name in silent[:_NAMED]],
            help=f"write monitor = true into {tables}",
        )
