"""A slot has a higher number than the stack can serve.

Why: the command line of the stack knows the slots 0 to 19, and the network of a slot has its number as the third part
of its address, which ends at 255. The network of a slot beyond that is Docker's choice, and so is its gateway: it
stands on no allowlist, and runner and recorder of the slot refuse calls from their own host. Somebody must have built
something of their own; if so, silence this.

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
        limit, why, more = command_line, "the command line of the stack knows", ""
        if highest.number >= networks:
            limit, why = networks, "there are networks for"
            more = ": Docker chooses the gateway of such a slot, which stands on no allowlist"
        yield warning(
            "slot-beyond-public-design",
            f"{stack.name} goes up to slot {highest.number}, and {why} the slots 0 to {limit - 1}{more}",
            Label(highest.path, f"slot {highest.number}"),
            help=f"use numbers up to {limit - 1}, or put the other slots on another host",
        )
