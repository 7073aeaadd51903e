"""A live runner may take longer to load than a rollout waits for it.

Why: a host waits rollout.deadline for all that it starts to become well. A runner that still loads its model by then is
unhealthy, and the host rolls back, which starts the runner again.

Example:

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    price = "0.10 USD / hour"
    ready_within = "10m"

Instead:

    [rollout]
    deadline = "12m"

    [orchestrators.orch]
    runners = ["echo"]

    [runners.echo]
    price = "0.10 USD / hour"
    ready_within = "10m"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the runners that a rollout asks for their health with its deadline."""
    deadline = fleet.rollout.deadline
    for placed in fleet.placed_runners:
        takes = placed.runner.ready_within
        if takes is None or takes.whole_seconds <= deadline.whole_seconds or not isinstance(placed.runner.health, str):
            continue
        given = "deadline" in fleet.rollout.model_fields_set
        place = Label(("rollout", "deadline"), "the deadline") if given else Label(("rollout",), "it has no deadline")
        yield error(
            "runner-slower-than-deadline",
            f"runner {placed.name} may take {takes} to be well, and a rollout goes back after {deadline}",
            Label((*placed.path, "ready_within")),
            [place] if given else [],
            f'write deadline = "{-(-takes.whole_seconds // 60) + 1}m" or more under [rollout]',
        )
