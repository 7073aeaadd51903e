"""A healthy host may go back before the other hosts of its batch are healthy.

Why: a release is confirmed once all hosts of a batch are healthy. Until then a host waits for `confirm`, and then rolls
back by itself. Another host of the batch may need 90 seconds to stop its nodes, then `deadline` and `stable` to become
healthy. So part of a batch could end on the old release.

Example:

    [rollout]
    canary = 2
    deadline = "10m"

Instead:

    [rollout]
    canary = 2
    deadline = "10m"
    confirm = "12m"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.quantities import Duration, parse_duration
from fleetc.places.diagnostic import Diagnostic, Label, warning

_STOPPING = parse_duration("90s")


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the wait for a confirmation with what hosts may take before it."""
    rollout = fleet.rollout
    needed = Duration(_STOPPING.microseconds + rollout.deadline.microseconds + rollout.stable.microseconds)
    together = min(max(rollout.canary, rollout.batch_size(len(fleet.hosts))), len(fleet.hosts))
    if rollout.confirm.microseconds < needed.microseconds and together > 1:
        field = "confirm" if "confirm" in rollout.model_fields_set else "deadline"
        yield warning(
            "confirm-too-short",
            f"a host waits {rollout.confirm} for its confirmation, and others of its batch may take {needed}",
            Label(("rollout", field), "the first of a batch may go back before the last one is healthy"),
            help=f'write confirm = "{needed}" or more',
        )
