"""Two slots of a host have the same number.

Why: the number decides a slot's ports, network and file, so the second slot cannot start.

Example:

    [avatars.stage]
    slots = [{ avatar = "mira", slot = 1 }, { avatar = "noor", slot = 1 }]

Instead:

    [avatars.stage]
    slots = [{ avatar = "mira", slot = 1 }, { avatar = "noor" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.effective_avatar import SlotInForce
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look for numbers that are written twice; the others are chosen to be different."""
    for stack in fleet.stacks:
        slots = effective_avatar.slots_of(fleet, stack)
        taken = {slot.number for slot in slots}
        first: dict[int, SlotInForce] = {}
        free = 0
        for slot in slots:
            before = first.setdefault(slot.number, slot)
            if before is slot:
                continue
            while free in taken:
                free += 1
            taken.add(free)
            yield error(
                "slot-number-used-twice",
                f"{before.avatar} and {slot.avatar} of {stack.name} both have slot {slot.number}",
                Label((*slot.path, "slot"), slot.avatar),
                [Label((*before.path, "slot"), before.avatar)],
                f"write slot = {free} for one of them, or remove the number",
            )
