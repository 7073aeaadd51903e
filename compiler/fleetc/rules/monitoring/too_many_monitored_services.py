"""A registration names more services than the payments service accepts.

Why: it accepts 25, and refuses the whole registration if there are more. By default these are TURN, and signaling and
game of every slot, so 12 slots fit.

Example:

    [avatars.stage]
    slots = 13
    turn = { user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" } }
    registration = { id = "stage-1", address = "0x1111111111111111111111111111111111111111" }

Instead:

    [avatars.stage]
    slots = 13
    turn = { user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" } }

    [avatars.stage.registration]
    id = "stage-1"
    address = "0x1111111111111111111111111111111111111111"
    monitored_services = ["vtuber-turn-server", "vtuber-stage-0-unreal-game", "vtuber-stage-1-unreal-game"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream.avatar import LIMITS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Count the services of each registration."""
    most = LIMITS["monitored_services"]
    for stack in fleet.stacks:
        services = effective_avatar.registered_services(fleet, stack)
        if services is None or len(services.value) <= most:
            continue
        why = f" ({services.origin.reason})" if services.origin.reason else ""
        yield error(
            "too-many-monitored-services",
            f"the registration of {stack.name} names {len(services.value)} services{why}, more than {most}",
            Label(services.origin.paths[0], f"{len(services.value)} services"),
            [Label((*stack.path, "registration"), "the registration", on_key=True)],
            f"write at most {most} of them as registration.monitored_services, such as the games of the slots",
        )
