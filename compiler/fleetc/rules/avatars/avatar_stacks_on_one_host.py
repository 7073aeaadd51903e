"""A host has two avatar stacks.

Why: a host has orchestrator-health, TURN, the checkout, slot ports and each slot number only once. Two stacks would
overwrite each other's files and settings.

Example:

    [avatars.stage]
    host = "gpu"
    slots = [{ avatar = "mira" }]

    [avatars.studio]
    host = "gpu"
    slots = [{ avatar = "noor" }]

Instead:

    [avatars.stage]
    host = "gpu"
    slots = [{ avatar = "mira" }, { avatar = "noor" }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Find the hosts with more than one stack."""
    for host, stacks in fleet.stacks_by_host.items():
        for stack in stacks[1:]:
            yield error(
                "avatar-stacks-on-one-host",
                f"host {host} has the avatar stacks {stacks[0].name} and {stack.name}",
                Label((*stack.path, "host"), "again"),
                [Label((*stacks[0].path, "host"), "the first stack")],
                f"write the slots of {stack.name} into avatars.{stacks[0].name}, or name another host",
            )
