"""A sleeping host stops the service that upgrades it.

Why: orchestrator-edge-rotator carries out remote operations. A host sleeps before an upgrade, so every remote upgrade
fails unless the rotator is on its list of services to keep running.

Example:

    [avatars.stage]
    slots = 2
    keep_running = []

Instead:

    [avatars.stage]
    slots = 2
    keep_running = ["orchestrator-edge-rotator"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning

_EXECUTOR = "orchestrator-edge-rotator"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the stacks that can be controlled remotely."""
    for stack in fleet.stacks:
        remote = stack.settings.remote_ops or effective_avatar.remote_cluster_control(fleet, stack).value
        if remote and _EXECUTOR not in stack.settings.keep_running:
            yield warning(
                "sleep-stops-the-executor",
                f"{stack.name} stops {_EXECUTOR} when it sleeps, but that service carries out remote operations",
                Label((*stack.path, "keep_running")),
                help=f'write keep_running = ["{_EXECUTOR}"], or remote_ops = false',
            )
