"""A slot cannot be put to sleep or woken on its own.

Why: the host only touches Compose projects whose names begin with one of `power_project_prefixes`, and the project of a
slot is vtuber- and its id. Putting the whole host to sleep does not stop any slot.

Example:

    [avatars.stage]
    slots = 2
    power_project_prefixes = ["stage-"]

Instead:

    [avatars.stage]
    slots = 2
    power_project_prefixes = ["vtuber-stage-"]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the projects of the slots with the prefixes; one warning for each stack."""
    for stack in fleet.stacks:
        prefixes = stack.settings.power_project_prefixes
        left = [slot for slot in effective_avatar.slots_of(fleet, stack) if not slot.project.startswith(prefixes)]
        if left:
            more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
            yield warning(
                "slot-cannot-sleep",
                f"{left[0].project} of {stack.name}{more} does not begin with any prefix that power calls may touch",
                Label((*stack.path, "power_project_prefixes")),
                [Label(left[0].path, f"slot {left[0].number}")],
                f'write power_project_prefixes = ["{effective_avatar.PROJECT_PREFIX}"]',
            )
