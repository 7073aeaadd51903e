"""A slot has a higher number than the stack can serve.

Why: the stack's command line only accepts slots 0 to 19. A slot's number is the third part of its network address, at
most 255. Beyond that, Docker chooses the slot's network and its gateway. That gateway is on no allowlist, so the slot's
runner and recorder refuse calls from their own host. If you have built your own solution, silence this.

Example:

    [avatars.stage]
    slots = [{ avatar = "mira", slot = 300 }]

Instead:

    [avatars.stage]
    slots = [{ avatar = "mira", slot = 3 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.upstream.avatar import LIMITS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the highest slot of each stack."""
    command_line, networks = LIMITS["slots_of_the_command_line"], LIMITS["slots_of_the_public_design"]
    for stack in fleet.stacks:
        highest = effective_avatar.slots_of(fleet, stack)[-1]
        if highest.number < command_line:
            continue
        limit, why, more = command_line, "the stack's command line only knows", ""
        if highest.number >= networks:
            limit, why = networks, "there are only networks for"
            more = ": Docker chooses the gateway of such a slot, which is on no allowlist"
        yield warning(
            "slot-beyond-public-design",
            f"{stack.name} goes up to slot {highest.number}, but {why} slots 0 to {limit - 1}{more}",
            Label(highest.path, f"slot {highest.number}"),
            help=f"use numbers up to {limit - 1}, or put the other slots on another host",
        )
