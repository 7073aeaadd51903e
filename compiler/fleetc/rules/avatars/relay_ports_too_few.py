"""TURN has fewer relay ports than there are slots.

Why: each viewer behind TURN uses one relay port of the host, and all slots share them. With fewer ports than slots, not
even one such viewer per slot can watch.

Example:

    [avatars.stage]
    slots = 12

    [avatars.stage.turn]
    relay_ports = "49160-49167"
    user = { env = "TURN_USER" }
    password = { env = "TURN_PASSWORD" }

Instead:

    [avatars.stage]
    slots = 12

    [avatars.stage.turn]
    relay_ports = "49160-49200"
    user = { env = "TURN_USER" }
    password = { env = "TURN_PASSWORD" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the two numbers of each stack with TURN."""
    for stack in fleet.stacks:
        relay = effective_avatar.relay_ports(stack)
        slots = len(effective_avatar.slots_of(fleet, stack))
        if relay is not None and len(relay.value) < slots:
            yield warning(
                "relay-ports-too-few",
                f"TURN of {stack.name} has {len(relay.value)} relay ports for {slots} slots",
                Label(relay.origin.paths[0], str(relay.value)),
                [Label((*stack.path, "slots"), f"{slots} slots", on_key=True)],
                "write a wider turn.relay_ports",
            )
