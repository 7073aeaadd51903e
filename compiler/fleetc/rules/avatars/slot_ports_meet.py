"""Two slots of a host use the same port for different services.

Why: a slot uses the ports 8080, 9877, 8889 and 7777 plus its number. Two numbers that are 303, 809, 988, 1112 or 1797
apart therefore collide: the second container cannot publish its port. Nothing collides below slot 303, and without the
game's command port nothing below slot 809.

Example:

    [avatars.stage]
    slots = [{ avatar = "mira", slot = 0 }, { avatar = "noor", slot = 809 }]

Instead:

    [avatars.stage]
    slots = [{ avatar = "mira", slot = 0 }, { avatar = "noor", slot = 1 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.slots import PortClash, meetings
from fleetc.language import effective_avatar
from fleetc.language.effective_avatar import SlotInForce
from fleetc.language.fleet import Fleet, Stack
from fleetc.places.diagnostic import Diagnostic, Label, error
from fleetc.upstream.avatar import SLOT_PORTS


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the slots of each stack: one message for each pair of services, with its first two slots."""
    for stack in fleet.stacks:
        slots = effective_avatar.slots_of(fleet, stack)
        by_number = {slot.number: slot for slot in slots}
        publish = {s: [slot.number for slot in slots if s != "game" or slot.game_command] for s in SLOT_PORTS}
        for meeting in meetings(SLOT_PORTS, publish):
            yield _meeting(stack, by_number, meeting)


def _meeting(stack: Stack, slots: dict[int, SlotInForce], meeting: PortClash) -> Diagnostic:
    high, low = meeting.first
    others = meeting.pairs - 1
    more = f", and {others} more pair{'' if others == 1 else 's'} of slots do too" if others else ""
    numbers = f"numbers that are not {meeting.difference} apart"
    absent = ", or game_command = false for one of them" if meeting.lower == "game" else ""
    return error(
        "slot-ports-meet",
        f"{meeting.lower} of slot {high} and {meeting.higher} of slot {low} of {stack.name} both use port "
        f"{meeting.first_port}{more}",
        Label(slots[high].path, f"{meeting.lower}: {SLOT_PORTS[meeting.lower]} + {high}"),
        [Label(slots[low].path, f"{meeting.higher}: {SLOT_PORTS[meeting.higher]} + {low}")],
        f"give the slots {numbers}{absent}",
    )
