"""orchestrator-health does not listen on port 9090.

Why: the payments service and the stack's command line only use that port, so power and remote operations do not reach
the host.

Example:

    [avatars.stage]
    slots = 2
    health_port = 9191

Instead:

    [avatars.stage]
    slots = 2
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning

_KNOWN = 9090


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the port of each stack."""
    for stack in fleet.stacks:
        port = effective_avatar.health_port(stack)
        if port.value != _KNOWN:
            yield warning(
                "health-port-moved",
                f"orchestrator-health of {stack.name} listens on {port.value}, but its callers use port {_KNOWN}",
                Label(port.origin.paths[0]),
                help=f"remove health_port, or forward port {_KNOWN} to it and silence the warning",
            )
